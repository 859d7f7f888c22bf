import Foundation
import Gateway
import GatewayKit
import Store
import Subprocess
import Testing
import Vitals

/// `vitals2mqtt dashboard`, on stores that a gateway could have left.
@Suite struct DashboardCommandTests {
    private static let devices =
        "devices: [{id: band-1, name: \"Anna's: band\", driver: simulator}, {id: new, driver: simulator}]"

    /// Runs the command with a configuration in a folder. The store knows what the device `band-1` can do, unless it has
    /// to be missing.
    private func run(
        _ options: [String] = [], _ devices: String = Self.devices, home: String = "{}", hasStore: Bool = true
    ) async throws -> (status: String, output: String, errors: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dashboard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "a-token\n".write(toFile: "\(folder)/token", atomically: false, encoding: .utf8)
        if hasStore {
            let id = try #require(DeviceID("band-1"))
            let store = try SQLiteStore(
                path: "\(folder)/s.sqlite", now: Timestamp(seconds: 1_795_000_000),
                newIdentity: SampleID(high: 1, low: 2))
            _ = try await store.load(id)
            let can = Capabilities([.heartRate: .monitor, .weight: .history])
            try await store.save([.identity(DeviceIdentity(model: "Band"), can), .features(.battery)], of: id)
            try await store.close()
        }
        let path = "\(folder)/c.yaml"
        try """
        store: {path: s.sqlite}
        mqtt: {url: "mqtt://127.0.0.1:1"}
        home_assistant: \(home)
        \(devices)

        """.write(toFile: path, atomically: false, encoding: .utf8)
        return try await runGateway(["dashboard", "--config", path] + options)
    }

    private static func exited(_ status: Int32) -> String { "\(TerminationStatus.exited(status))" }

    @Test func `prints YAML of the devices that were connected, and names the others`() async throws {
        let result = try await run()
        #expect(result.status == Self.exited(0), "\(result.errors)")
        #expect(result.errors == "new is skipped: it was never connected, so its abilities are unknown.\n")
        let views = try YAMLDocument(result.output).root.list("views")
        #expect(views.map { $0.text("path") } == ["vitals", "band-1-year", "band-1-settings"])
        #expect(views.first?.list("sections").first?.list("cards").first?.text("heading") == "Anna's: band")
        #expect(result.output.contains("entity: sensor.vitals2mqtt_"))
        #expect(result.output.contains("_band_1_battery"))
        #expect(result.output.contains("as the gateway proposes them"))
    }

    @Test func `prints one device alone`() async throws {
        let result = try await run(["--device", "band-1"])
        #expect(result.status == Self.exited(0) && result.errors.isEmpty, "\(result.errors)")
        let unknown = try await run(["--device", "ring"])
        #expect(unknown.status == Self.exited(1) && unknown.output.isEmpty)
        #expect(unknown.errors == "There is no device ring in the configuration. It has band-1, new.\n")
    }

    @Test func `says what to do where there is nothing to show`() async throws {
        let none = try await run([], "devices: []")
        #expect(none.errors == "No device is configured.\n")
        let early = try await run(hasStore: false)
        #expect(early.status == Self.exited(1))
        #expect(early.errors.contains("There is no file") && early.errors.contains("run the gateway until"))
        let never = try await run(["--device", "new"])
        #expect(never.errors.contains("No device was ever connected"))
        let off = try await run(home: "{discovery: off}")
        #expect(off.errors.contains("home_assistant.discovery is off"))
        let faulty = try await run(home: "{url: nowhere}")
        #expect(faulty.status == Self.exited(78) && faulty.errors.contains("c.yaml:3: "))
    }

    @Test func `a Home Assistant that does not answer is an error, unless nobody asks it`() async throws {
        let home = "{url: \"http://127.0.0.1:1\", token: {file: token}}"
        let result = try await run(["--device", "band-1"], home: home)
        #expect(result.status == Self.exited(1) && result.output.isEmpty)
        #expect(result.errors.contains("Home Assistant is offline") && result.errors.contains("--proposed-ids"))
        let unasked = try await run(["--device", "band-1", "--proposed-ids"], home: home)
        #expect(unasked.status == Self.exited(0), "\(unasked.errors)")
    }
}

extension ConfigurationValue {
    fileprivate func list(_ key: String) -> [ConfigurationValue] {
        if case .list(let elements)? = member(key)?.content { elements } else { [] }
    }

    fileprivate func text(_ key: String) -> String? {
        if case .scalar(let text, _)? = member(key)?.content { text } else { nil }
    }

    private func member(_ key: String) -> ConfigurationValue? {
        if case .map(let members) = content { members.first { $0.key.text == key }?.value } else { nil }
    }
}
