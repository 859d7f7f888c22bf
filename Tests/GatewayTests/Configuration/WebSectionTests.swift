import Foundation
import Gateway
import GatewayKit
import Listening
import Testing
import Web

/// `web:` in the whole configuration.
@Suite struct WebSectionTests {
    private static let head = "mqtt: {url: mqtt://127.0.0.1}\ndevices: [{id: a, driver: toy}]\n"

    @Test(arguments: ["", "web:\n"]) func `without the section the gateway does not listen`(text: String) throws {
        #expect(try load(Self.head + text).web == nil)
    }

    @Test func `an empty map listens on loopback, and a reload may change all of it`() throws {
        let none = try load(Self.head)
        let some = try load(Self.head + "web: {}")
        #expect(some.web?.listen.address.description == "127.0.0.1:8480")
        #expect(none.fixedPart.sectionsThatNeedRestart(comparedWith: some).isEmpty)
    }

    @Test func `errors have their lines`() {
        #expect(
            issues(Self.head + "web:\n  listen: 0.0.0.0:8480\n  vitals: true\n").map { String($0.prefix(16)) }.sorted()
                == ["4: web.listen: E", "5: web.vitals: T"])
    }

    @Test func `a health check without the section says what to add`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = try write(Self.head, to: "a.yaml", in: folder)
        let tool = HealthTool(of: file, with: ConfigurationLoader(plugins: TestPlugin.catalogue, environment: [:]))
        await #expect {
            _ = try await tool.ask(isReady: false)
        } throws: {
            "\($0)".contains("Add web: {listen: 127.0.0.1:8480}.")
        }
    }
}
