import BundledPlugins
import Foundation
import GatewayKit
import Testing
import Vitals
import Web

@testable import Gateway

/// Devices that the pages add, with the plugins of the program.
@Suite struct ConfiguredAdderTests {
    private static let text = """
        mqtt: {url: "mqtt://127.0.0.1"}
        store: {path: vitals.sqlite}
        devices_from: devices.d
        devices: []

        """

    /// Runs `body` with an adder and the folder of its configuration.
    private func withAdder(
        _ text: String = text, isReachable: Bool = true,
        _ body: (ConfiguredAdder, _ folder: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "adder-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: "\(folder)/devices.d", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/c.yaml"))
        let loader = ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:])
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let adder = ConfiguredAdder(
            to: DeviceFiles(of: "\(folder)/c.yaml", loader: loader), calendar: calendar, clock: .system,
            isReachable: isReachable
        ) { duration in
            #expect(duration == ConfiguredAdder.scanTime)
            return Answer(.failed, code: .offline, message: "There is no adapter.")
        }
        try await body(adder, folder)
    }

    @Test func `a simulated band is checked and written`() async throws {
        try await withAdder { adder, folder in
            #expect(adder.models.map(\.value).contains("band"))
            let wishes = DeviceWishes(
                driver: "simulator", options: [ScanReport.Option("model", "band")], name: "Demo band", person: "Anna")
            let checked = await adder.check(wishes)
            #expect(checked.id == "demo-band" && checked.issues.isEmpty)
            #expect(checked.file == "\(folder)/devices.d/demo-band.yaml")
            #expect(checked.text.contains("person: Anna") && checked.text.contains("model: band"))
            let added = try await adder.write(wishes)
            #expect(added == AddedDevice(id: try #require(DeviceID("demo-band")), name: "Demo band"))
            let written = try String(contentsOfFile: checked.file, encoding: .utf8)
            #expect(written.hasSuffix(checked.text))
            let again = await adder.check(DeviceWishes(driver: "simulator", id: "demo-band"))
            #expect(again.issues.first?.hasPrefix("id: The configuration has the id demo-band already.") == true)
        }
    }

    @Test func `a phone gets a token of its own, in a file that only its owner may read`() async throws {
        try await withAdder { adder, folder in
            #expect(adder.phoneObstacle == nil)
            let driver = try #require(adder.phoneApps.first).value
            let wishes = DeviceWishes(
                driver: driver, transport: [ScanReport.Option("type", "http")], id: "annas-iphone",
                name: "Anna's iPhone")
            #expect(await adder.check(wishes).issues.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/annas-iphone.token"))
            let access = try #require(try await adder.write(wishes).access)
            #expect(access.token.count == 64 && !access.steps.isEmpty)
            #expect(try String(contentsOfFile: "\(folder)/annas-iphone.token", encoding: .utf8) == "\(access.token)\n")
            #expect(FileMode(of: "\(folder)/annas-iphone.token")?.bits == 0o600)
            let entry = try String(contentsOfFile: "\(folder)/devices.d/annas-iphone.yaml", encoding: .utf8)
            #expect(entry.contains("annas-iphone.token") && !entry.contains(access.token))
        }
    }

    @Test(
        arguments: [
            ("", nil),
            (
                "plugins: {tcp: {listen: \"0.0.0.0:7900\", insecure: true}}\n",
                PhoneAccess.Port(number: 7900, isEncrypted: false)
            ),
        ] as [(String, PhoneAccess.Port?)])
    func `an app that carries a band calls the listener of tcp, with a token of its own`(
        plugins: String, port: PhoneAccess.Port?
    ) async throws {
        try await withAdder(Self.text + plugins) { adder, folder in
            #expect(adder.phoneApps.map(\.value).contains("link"))
            let wishes = DeviceWishes(driver: "link", id: "bens-band")
            let checked = await adder.check(wishes)
            #expect(checked.issues.isEmpty && checked.text.contains("listen: true"))
            let access = try #require(try await adder.write(wishes).access)
            #expect(access.way == .call(port) && access.token.count == 64)
            #expect(access.steps.contains { $0.hasPrefix("Set listen and tls") } == (port == nil))
            #expect(try String(contentsOfFile: "\(folder)/bens-band.token", encoding: .utf8) == "\(access.token)\n")
        }
    }

    @Test func `a token that is there already is not replaced, and one without its entry does not stay`() async throws {
        try await withAdder { adder, folder in
            let wishes = DeviceWishes(
                driver: "documents", transport: [ScanReport.Option("type", "http")], id: "script")
            try Data("mine\n".utf8).write(to: URL(filePath: "\(folder)/script.token"))
            await #expect(throws: AddRefusal.self) { _ = try await adder.write(wishes) }
            #expect(try String(contentsOfFile: "\(folder)/script.token", encoding: .utf8) == "mine\n")
            try FileManager.default.removeItem(atPath: "\(folder)/script.token")
            // A file of a person is in the entry's place.
            try Data("id: other\n".utf8).write(to: URL(filePath: "\(folder)/devices.d/script.yaml"))
            await #expect(throws: AddRefusal.self) { _ = try await adder.write(wishes) }
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/script.token"))
        }
    }

    @Test func `what cannot be added says why`() async throws {
        try await withAdder(isReachable: false) { adder, _ in
            #expect(adder.phoneObstacle?.hasPrefix("The gateway listens on this machine only") == true)
            #expect(!(await adder.check(DeviceWishes(driver: "none")).issues.isEmpty))
            let refusal = await #expect(throws: AddRefusal.self) { _ = try await adder.scan() }
            #expect(refusal?.description == "There is no adapter.")
            #expect(await adder.exports() == nil)
        }
        try await withAdder(Self.text.replacing("devices_from: devices.d\n", with: "")) { adder, _ in
            let checked = await adder.check(DeviceWishes(driver: "simulator", id: "a"))
            #expect(checked.file.isEmpty)
            #expect(
                checked.issues.last?.hasPrefix("The configuration does not say where devices may be written.") == true)
        }
    }

    @Test func `of the folder for exports a limited number of files is looked at`() async throws {
        try await withAdder { adder, folder in
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(ConfiguredAdder.exportFolder)", withIntermediateDirectories: true)
            for number in 0...ConfiguredAdder.maximumFiles {
                try Data("nothing".utf8).write(to: URL(filePath: "\(folder)/exports/\(number)"))
            }
            let found = try #require(await adder.exports())
            #expect(found.files.isEmpty && found.problem?.hasPrefix("The folder has 21 files") == true)
        }
    }
}
