import Contract
import Foundation
import HomeAssistant
import JSON
import MQTT
import Testing
import Vitals

/// Whole discovery messages: `Fixtures/<case>/expected.json`. With `RECORD_FIXTURES=1` in the environment the files are
/// written instead of compared.
@Suite struct DiscoveryGoldenTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    static let cases: [(name: String, messages: [OutgoingMessage])] = [
        ("gateway", Devices.discovery().gatewayMessages),
        ("band", Devices.discovery().messages(for: Devices.band)),
        ("cuff", Devices.discovery().messages(for: Devices.cuff)),
        ("cuff-2026.5", Devices.discovery(compatibility: .timePlatform).messages(for: Devices.cuff)),
        ("scale", Devices.discovery().messages(for: Devices.scale)),
        ("unpaired", Devices.discovery().messages(for: Devices.unpaired)),
        ("cuff-components", Devices.discovery(.component).messages(for: Devices.cuff)),
    ]

    @Test(arguments: cases.map(\.name))
    func `announces exactly what the fixture has`(name: String) throws {
        let messages = try #require(Self.cases.first { $0.name == name }).messages
        let actual = JSONValue.array(
            try messages.map { message in
                [
                    "topic": .string(message.topic), "retain": .bool(message.isRetained),
                    "payload": try JSONValue(parsing: message.payload),
                ]
            })
        let file = Self.folder.appending(path: name).appending(path: "expected.json")
        if ProcessInfo.processInfo.environment["RECORD_FIXTURES"] != nil {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data((Self.indented(actual, "") + "\n").utf8).write(to: file)
        }
        #expect(actual == (try JSONValue(parsing: Array(try Data(contentsOf: file)))))
    }

    /// JSON with short objects, and lists such as those of two topics of availability, on one line.
    private static func indented(_ value: JSONValue, _ margin: String) -> String {
        let flat = value.description
        if flat.count + margin.count < (value.asArray == nil ? 110 : 250) { return flat }
        let inner = margin + "  "
        if let members = value.asObject {
            let lines = members.map { "\(inner)\(JSONValue.string($0.key)): \(indented($0.value, inner))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(margin)}"
        }
        if let elements = value.asArray {
            return "[\n" + elements.map { inner + indented($0, inner) }.joined(separator: ",\n") + "\n\(margin)]"
        }
        return flat
    }
}
