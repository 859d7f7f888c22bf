import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Web

/// Adding devices on the pages.
@Suite struct AddPageTests {
    private func text(_ answer: WebAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func browser(_ household: ShownHousehold) async -> ShownBrowser {
        let browser = ShownBrowser(household)
        _ = await browser.get("/add")
        return browser
    }

    @Test func `a scan runs beside the page, which shows what was found`() async throws {
        let household = try ShownHousehold()
        let browser = await browser(household)
        #expect(await browser.text("/add/near").contains("Nobody has listened yet."))
        #expect(await browser.post("/add/scan").value("Location") == "/add/near")
        #expect(await browser.text("/add/near").contains("Listening."))
        household.memory.stop()
        await household.memory.run()
        let html = await browser.text("/add/near")
        #expect(html.contains("30:35:47:00:11:22") && html.contains("colmi-ring") && html.contains("−61 dBm"))
        #expect(html.contains(#"name="transport" value="address=30:35:47:00:11:22""#))
    }

    @Test func `an entry is checked before it is written, and one with errors is not`() async throws {
        let household = try ShownHousehold()
        let browser = await browser(household)
        let checked = await browser.post(
            "/add/check", ["driver": "simulator", "model": "band", "name": " Demo  band ", "id": "demo"])
        #expect(checked.status == 200)
        #expect(text(checked).contains("The entry is valid.") && text(checked).contains("Demo band"))
        #expect(text(checked).contains(#"name="option" value="model=band""#))
        let taken = await browser.post("/add/check", ["driver": "simulator", "id": "taken"])
        #expect(taken.status == 422 && text(taken).contains("has the id taken already"))
        #expect(!text(taken).contains("Write it"))
        #expect(household.adder.written.isEmpty)
        #expect(await browser.post("/add/write", ["driver": "simulator", "id": "taken"]).status == 422)
        let written = await browser.post(
            "/add/write",
            ["driver": "simulator", "option": "model=band", "id": "demo", "name": "Demo band", "person": "Anna"])
        #expect(written.status == 303 && written.value("Location") == "/")
        let wishes = DeviceWishes(
            driver: "simulator", options: [ScanReport.Option("model", "band")], id: "demo", name: "Demo band",
            person: "Anna")
        #expect(household.adder.written == [wishes])
        #expect(await browser.text("/").contains("Demo band is added"))
    }

    @Test func `a phone gets its address and token once, also as a code`() async throws {
        let household = try ShownHousehold()
        let browser = await browser(household)
        let answer = await browser.post(
            "/add/write",
            ["driver": "health-auto-export", "transport": "type=http", "id": "annas-iphone", "name": "Anna's iPhone"])
        let html = text(answer)
        #expect(answer.status == 200 && answer.value("Cache-Control") == "no-store")
        #expect(html.contains("https://gateway.example:8480/v1/devices/annas-iphone"))
        #expect(html.contains("Bearer 5f2e9c1b7ad04e66"))
        #expect(html.contains(#"shape-rendering="crispEdges""#))
        for page in ["/", "/add/phone", "/gateway"] {
            #expect(!(await browser.text(page).contains("5f2e9c1b7ad04e66")), "\(page)")
        }
    }

    @Test func `an app that carries a band gets the address of the listener, its device and the token`() async throws {
        let household = try ShownHousehold()
        let browser = await browser(household)
        #expect(await browser.text("/add/phone").contains(#"name="driver" value="link""#))
        let html = text(await browser.post("/add/write", ["driver": "link", "id": "bens-band"]))
        #expect(html.contains("tls://gateway.example:7879") && html.contains("bens-band"))
        #expect(html.contains("5f2e9c1b7ad04e66") && !html.contains("Authorization"))
        #expect(household.adder.written == [DeviceWishes(driver: "link", id: "bens-band")])
    }

    @Test(arguments: [
        ("gateway:8480", "tcp://gateway:7879"), ("[fd00::1]:8480", "tcp://[fd00::1]:7879"),
        ("[fd00::1]", "tcp://[fd00::1]:7879"), ("192.0.2.10", "tcp://192.0.2.10:7879"),
    ]) func `an app calls the host by which the browser has come`(authority: String, url: String) throws {
        let added = AddedDevice(id: try #require(DeviceID("a")), name: "A")
        var access = PhoneAccess(app: "App", steps: [], address: nil, token: "t")
        access.way = .call(PhoneAccess.Port(number: 7879, isEncrypted: false))
        let section = AddBuilder.access(added, access, authority: authority, isEncrypted: true)
        #expect(section.figures.map(\.text) == [url, "a", "t"])
        access.way = .call(nil)
        let unknown = AddBuilder.access(added, access, authority: authority, isEncrypted: true)
        #expect(unknown.figures.map(\.text) == ["a", "t"] && !unknown.svg.isEmpty)
    }

    @Test(arguments: [
        "", "driver=", "driver=a&transport=type", "driver=a&option==b", "driver=a&option=a%3D1&option=a%3D2",
    ]) func `a form that no page has adds nothing`(form: String) async throws {
        let household = try ShownHousehold()
        let browser = await browser(household)
        for path in ["/add/check", "/add/write"] {
            #expect(await browser.send("POST", path, body: "csrf=\(browser.token)&\(form)").status == 400)
        }
        #expect(household.adder.written.isEmpty)
    }

    @Test func `a name that a stranger has chosen is cut`() {
        var scan = FoundNearby()
        scan.report = ScanReport(devices: [
            ScanReport.Device(
                address: "A", name: String(repeating: "a", count: 500), services: [], signalStrength: nil,
                isConnected: false,
                device: nil, claims: [ScanReport.Claim("colmi-ring", by: .name)], transport: [], note: nil)
        ])
        guard let calendar = LocalCalendar(identifier: "Europe/Berlin") else { return }
        let section = AddBuilder.near(scan, PageClock(now: Timestamp(seconds: 0), calendar: calendar))
        #expect(section.found.first?.label.count == AddBuilder.longestName)
    }

    @Test func `a code has its three corners, and a text that is too long has none`() throws {
        let svg = try #require(QRCode.svg("https://gateway.example"))
        let size = try #require(svg.firstMatch(of: #/viewBox="0 0 (\d+) \1"/#).flatMap { Int($0.1) })
        // Version 2 has 25 modules, and a free margin of 4.
        #expect(size == 33)
        #expect(svg.matches(of: #/M\d+ \d+h7v1h-7z/#).count >= 6, "above and below of each corner")
        #expect(svg.matches(of: #/M4 4h7v1/#).count == 1)
        #expect(QRCode.svg("") == nil)
        #expect(QRCode.svg(String(repeating: "a", count: QRCode.maximumBytes)) != nil)
        #expect(QRCode.svg(String(repeating: "a", count: QRCode.maximumBytes + 1)) == nil)
    }
}
