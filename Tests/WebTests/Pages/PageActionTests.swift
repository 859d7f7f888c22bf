import GatewayKit
import HTTPTypes
import JSON
import TestSupport
import Testing
import Vitals

@testable import Web

/// What forms do, and which are refused.
@Suite(.timeLimit(.minutes(3))) struct PageActionTests {
    private func household() throws -> ShownHousehold {
        let household = try ShownHousehold()
        try household.addBand()
        return household
    }

    private func browser(_ household: ShownHousehold, at page: String = "/") async -> ShownBrowser {
        let browser = ShownBrowser(household)
        _ = await browser.get(page)
        return browser
    }

    private func text(_ answer: WebAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

    private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test func `a form is a command of the contract, and its answer stands on the next page once`() async throws {
        let household = try household()
        let browser = await browser(household)
        let answer = await browser.post("/devices/band-1/synchronise")
        #expect(answer.status == 303 && answer.value("Location") == "/devices/band-1")
        #expect(household.commander.commands.map(\.name) == ["sync"])
        #expect(household.commander.commands.map(\.device) == ["band-1"])
        #expect(await browser.text("/devices/band-1").contains("Band is being synchronised."))
        #expect(!(await browser.text("/devices/band-1").contains("Band is being synchronised.")))
    }

    @Test func `each form sends what its command needs`() async throws {
        let household = try household()
        let browser = await browser(household)
        _ = await browser.post("/devices/band-1/measure", ["action": "start", "metric": "heart_rate"])
        _ = await browser.post("/devices/band-1/measure", ["action": "stop"])
        _ = await browser.post("/devices/band-1/passkey", ["passkey": "123 456"])
        let back = await browser.post(
            "/devices/band-1/acknowledge",
            ["id": "48f87357-0bf7-5758-ad2e-511355013f20", "return": "devices/band-1/nights"])
        #expect(back.value("Location") == "/devices/band-1/nights")
        _ = await browser.post(
            "/devices/band-1/whose", ["id": "48f87357-0bf7-5758-ad2e-511355013f20", "person": "Dora"])
        _ = await browser.post("/devices/band-1/whose", ["id": "48f87357-0bf7-5758-ad2e-511355013f20", "person": ""])
        _ = await browser.post("/gateway/synchronise")
        let commands = household.commander.commands
        #expect(commands.map(\.name) == ["measure", "measure", "passkey", "acknowledge", "assign", "withdraw", "sync"])
        #expect(try json(commands[0].arguments) == ["action": "start", "metric": "heart_rate"])
        #expect(try json(commands[1].arguments) == ["action": "stop"])
        #expect(try json(commands[2].arguments) == ["passkey": "123456"])
        #expect(try json(commands[3].arguments)["id"]?.asString == "48f87357-0bf7-5758-ad2e-511355013f20")
        let sample: JSONValue = "48f87357-0bf7-5758-ad2e-511355013f20"
        #expect(try json(commands[4].arguments) == ["id": sample, "person": "Dora"])
        #expect(try json(commands[5].arguments) == ["id": sample])
        #expect(commands[6].device == nil)
    }

    @Test func `a refusal is said in the gateway's words`() async throws {
        let household = try household()
        let browser = await browser(household)
        household.commander.set(answer: #"{"status": "failed", "code": "offline", "message": "It is 5 km away."}"#)
        _ = await browser.post("/devices/band-1/synchronise")
        #expect(await browser.text("/devices/band-1").contains("km away."))
        household.commander.set(answer: "no JSON")
        _ = await browser.post("/devices/band-1/synchronise")
        #expect(await browser.text("/devices/band-1").contains("The gateway did not do it (failed)."))
        let long = String(repeating: "a", count: 2 * CommandReply.longestMessage)
        let reply = CommandReply(Array(#"{"status": "failed", "message": "\#(long)"}"#.utf8))
        #expect(reply.message?.count == CommandReply.longestMessage)
    }

    @Test func `a form does not wait longer for an answer than a person does`() async throws {
        struct Silent: GatewayCommander {
            func perform(
                _ name: String, of device: DeviceID?, arguments: [UInt8],
                answer: @escaping @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void
            ) async {}
        }
        let clock = ManualClock()
        async let reply = CommandReply.of("sync", nil, [:], to: Silent(), by: clock.gatewayClock)
        try await clock.move(to: CommandReply.patience)
        let found = await reply
        #expect(found == nil)
    }

    // MARK: - Refused forms

    @Test func `a form without the session's token changes nothing`() async throws {
        let household = try household()
        for token in ["", "0", String(repeating: "0", count: 64)] {
            let browser = await browser(household)
            browser.token = token
            #expect(await browser.post("/devices/band-1/synchronise").status == 403)
        }
        // The token of another session.
        let (one, other) = (await browser(household), await browser(household))
        one.token = other.token
        #expect(await one.post("/devices/band-1/synchronise").status == 403)
        one.cookie = nil
        #expect(await one.post("/devices/band-1/synchronise").status == 403)
        #expect(household.commander.commands.isEmpty)
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", "none"),
        ("Origin", "https://evil.example"), ("Origin", "null"), ("Origin", "https://gateway.example.evil.example"),
    ]) func `a form of another site changes nothing, with the right token`(name: String, value: String) async throws {
        let household = try household()
        let browser = await browser(household)
        let field = try #require(HTTPField.Name(name))
        browser.headers[field] = value
        #expect(await browser.post("/devices/band-1/synchronise").status == 403)
        #expect(household.commander.commands.isEmpty)
        browser.headers = [:]
        let (origin, site) = (
            try #require(HTTPField.Name("Origin")), try #require(HTTPField.Name("Sec-Fetch-Site"))
        )
        browser.headers[origin] = "https://gateway.example"
        browser.headers[site] = "same-origin"
        #expect(await browser.post("/devices/band-1/synchronise").status == 303)
    }

    @Test func `what is no form of a page is refused`() async throws {
        let household = try household()
        let browser = await browser(household)
        browser.headers[.contentType] = "text/plain"
        #expect(await browser.post("/devices/band-1/synchronise").status == 400)
        browser.headers[.contentType] = "multipart/form-data"
        #expect(await browser.post("/devices/band-1/synchronise").status == 400)
        browser.headers[.contentType] = nil
        for body in ["csrf=%", "csrf=%zz", "csrf=%ff", "a=%00"] {
            #expect(await browser.send("POST", "/devices/band-1/synchronise", body: body).status == 400, "\(body)")
        }
        let many = Array(repeating: "a=b", count: FormFields.maximum + 1).joined(separator: "&")
        #expect(await browser.send("POST", "/gateway/synchronise", body: many).status == 400)
        #expect(await browser.post("/nothing").status == 404)
        #expect(await browser.post("/devices/other/synchronise").status == 404)
        #expect(household.site.maximumBody == PageSite.maximumForm)
        #expect(household.commander.commands.isEmpty)
    }

    @Test func `a form's fields are read as browsers write them`() throws {
        let fields = try #require(FormFields("a=1+2%263&b=%C3%A4&a=x=y&c&=d".utf8))
        #expect(fields["a"] == "1 2&3" && fields.all("a") == ["1 2&3", "x=y"])
        #expect(fields["b"] == "ä" && fields["c"] == "" && fields["d"] == nil)
        #expect(try #require(FormFields("a=+x++y+".utf8)).text("a") == "x y")
        #expect(try #require(FormFields("a=++".utf8)).text("a") == nil)
        let most = Array(repeating: "a=b", count: FormFields.maximum).joined(separator: "&")
        #expect(FormFields(most.utf8)?.list.count == FormFields.maximum)
    }

    // MARK: - Settings

    /// The fields of the form as the page has them, changed.
    private func settings(_ html: String, _ changes: [String: String?]) -> [(String, String)] {
        var fields: [(String, String)] = [("if_version", "17")]
        for match in html.matches(of: #/<input type="checkbox" id="([a-z_.]+)"[^>]*?( checked)?[^>]*>/#) {
            if match.0.contains(" checked") { fields.append((String(match.1), "true")) }
        }
        for match in html.matches(of: #/id="([a-z_0-9.]+)" name="[^"]*" value="([^"]*)"/#)
        where match.1.contains(".") && match.2 != "true" {
            fields.append((String(match.1), String(match.2)))
        }
        fields.removeAll { changes[$0.0] != nil }
        return fields + changes.compactMap { key, value in value.map { (key, $0) } }
    }

    private func post(_ browser: ShownBrowser, _ fields: [(String, String)]) async -> WebAnswer {
        let body = ([("csrf", browser.token)] + fields)
            .map { "\($0.0)=\($0.1.replacing(":", with: "%3A"))" }.joined(separator: "&")
        return await browser.send("POST", "/devices/band-1/settings", body: body)
    }

    @Test func `the form of settings sends what was changed, and nothing else`() async throws {
        let household = try household()
        let browser = await browser(household)
        let html = await browser.text("/devices/band-1/settings")
        #expect(await post(browser, settings(html, [:])).status == 303)
        #expect(household.commander.commands.isEmpty)
        #expect(await browser.text("/devices/band-1/settings").contains("Nothing was changed."))
        let answer = await post(
            browser,
            settings(
                html,
                [
                    "heart_rate.resting_alert.upper": "95", "heart_rate.schedule.enabled": "true",
                    "heart_rate.schedule.start": "7:30",
                ]))
        #expect(answer.status == 303 && answer.value("Location") == "/devices/band-1/settings")
        let command = try #require(household.commander.commands.last)
        #expect(command.name == "config")
        let arguments = try json(command.arguments)
        #expect(arguments["if_version"] == 17)
        #expect(arguments["heart_rate"]?["resting_alert"] == ["upper": 95])
        #expect(arguments["heart_rate"]?["schedule"]?["enabled"] == true)
        #expect(arguments["heart_rate"]?["schedule"]?["start"] == "07:30")
        #expect(arguments.asObject?.count == 2)
    }

    @Test func `a switch that a form does not send is off`() async throws {
        let household = try household()
        household.reader.set { state in
            for (id, states) in state.states {
                state.states[id] = states.map { part in
                    guard case .config(var twin) = part else { return part }
                    twin.desired?[.heartRate, .enabled(.resting)] = .toggle(true)
                    return .config(twin)
                }
            }
        }
        let browser = await browser(household)
        let html = await browser.text("/devices/band-1/settings")
        _ = await post(browser, settings(html, ["heart_rate.resting_alert.enabled": nil]))
        let arguments = try json(try #require(household.commander.commands.last).arguments)
        #expect(arguments["heart_rate"]?["resting_alert"] == ["enabled": false])
    }

    @Test func `a mistake is shown where it was typed, with what was typed`() async throws {
        let household = try household()
        let browser = await browser(household)
        let html = await browser.text("/devices/band-1/settings")
        let typed = await post(browser, settings(html, ["heart_rate.resting_alert.upper": "many"]))
        #expect(typed.status == 422)
        #expect(text(typed).contains(#"value="many""#) && text(typed).contains("must be a number"))
        #expect(household.commander.commands.isEmpty)
        household.commander.set(
            answer: """
                {"status": "rejected", "code": "invalid", "message": "Nothing was changed.", "violations": [
                  {"path": "heart_rate.resting_alert.upper", "code": "invalid", "message": "must be above heart_rate.resting_alert.lower"}]}
                """)
        let refused = await post(browser, settings(html, ["heart_rate.resting_alert.upper": "30"]))
        #expect(refused.status == 422)
        #expect(text(refused).contains("must be above “At rest, lower limit”"))
        #expect(text(refused).contains(#"value="30""#))
        household.commander.set(answer: #"{"status": "rejected", "code": "conflict", "message": "Version 18."}"#)
        let conflict = await post(browser, settings(html, ["heart_rate.resting_alert.upper": "96"]))
        #expect(conflict.status == 303)
        #expect(await browser.text("/devices/band-1/settings").contains("Somebody has changed the settings meanwhile."))
    }

    @Test func `a form that is shown again after a mistake keeps the version that was seen`() async throws {
        let household = try household()
        let browser = await browser(household)
        let html = await browser.text("/devices/band-1/settings")
        household.reader.set { state in
            for (id, states) in state.states {
                state.states[id] = states.map { part in
                    guard case .config(var twin) = part else { return part }
                    twin.version = 18
                    return .config(twin)
                }
            }
        }
        let again = text(await post(browser, settings(html, ["heart_rate.resting_alert.upper": "many"])))
        #expect(again.contains(#"name="if_version" value="17""#))
        #expect(await browser.text("/devices/band-1/settings").contains(#"name="if_version" value="18""#))
    }

    // MARK: - The gateway

    @Test func `the doctor is asked beside the page, which shows what he says`() async throws {
        let household = try household()
        let browser = await browser(household)
        #expect(await browser.text("/gateway").contains("Not asked yet."))
        #expect(await browser.post("/gateway/doctor").status == 303)
        #expect(await browser.text("/gateway").contains("The doctor is asking"))
        #expect(await browser.post("/gateway/doctor").status == 303)
        household.memory.stop()
        await household.memory.run()
        let html = await browser.text("/gateway")
        #expect(html.contains("As of") && html.contains("<b>Broker</b>"))
    }

    @Test func `the page of the gateway has a limited number of lines and parts`() throws {
        let lines = (0..<2 * GatewayBuilder.maximumLines).map {
            LogLine(time: Timestamp(seconds: Int64($0)), level: "info", text: "Line \($0)")
        }
        let overview = GatewayOverview(
            version: "1", startedAt: Timestamp(seconds: 1), now: Timestamp(seconds: 2))
        let builder = GatewayBuilder(
            overview: overview, late: (0..<300).map { "device.band-\($0)" }, log: lines,
            doctor: GatewayBuilder.DoctorRun(),
            clock: PageClock(now: Timestamp(seconds: 2), calendar: try ShownPlots.calendar()))
        let frame = Frame(
            title: "", gateway: "", version: "", assets: "", base: "/", path: "", token: "", places: [],
            made: Moment(Timestamp(seconds: 2), now: Timestamp(seconds: 2), in: try ShownPlots.calendar()),
            canSignOut: false, isLive: false, notice: nil)
        let page = builder.page(frame)
        #expect(page.log.count == GatewayBuilder.maximumLines)
        #expect(page.parts.count == GatewayBuilder.maximumParts)
    }
}
