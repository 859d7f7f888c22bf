import Contract
import Foundation
import JSON
import MQTT
import Testing
import Vitals

/// Compares the messages to consumers with `Fixtures/<case>/expected.json`, in every value and in order.
///
/// With `RECORD_FIXTURES=1` in the environment the files are written instead of compared. Read the difference before
/// you commit it, since consumers see every change.
@Suite struct GoldenPayloadTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    @Test(arguments: ExampleMessages.names)
    func `makes exactly the message of the fixture`(name: String) throws {
        let message = try #require(ExampleMessages.message(name))
        let file = Self.folder.appending(path: name).appending(path: "expected.json")
        if ProcessInfo.processInfo.environment["RECORD_FIXTURES"] != nil {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(Self.text(of: message).utf8).write(to: file)
        }
        let expected = try JSONValue(parsing: Array(try Data(contentsOf: file)))
        #expect(try Self.document(of: message) == expected)
    }

    @Test func `has a folder for each message and no other`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
        #expect(Set(folders) == Set(ExampleMessages.names))
    }

    /// A message in the format of a fixture.
    private static func document(of message: OutgoingMessage) throws -> JSONValue {
        let isPlain = message.contentType == nil
        return [
            "topic": .string(message.topic), "retain": .bool(message.isRetained),
            "expiry_s": message.expiry.map { .number(Double($0.inMilliseconds) / 1000) } ?? nil,
            "content_type": message.contentType.map { .string($0) } ?? nil,
            "payload": isPlain
                ? .string(String(decoding: message.payload, as: UTF8.self)) : try JSONValue(parsing: message.payload),
        ]
    }

    private static func text(of message: OutgoingMessage) throws -> String {
        try indented(try document(of: message), "") + "\n"
    }

    /// JSON with short objects and lists on one line.
    private static func indented(_ value: JSONValue, _ margin: String) throws -> String {
        let flat = value.description
        if flat.count + margin.count < 100 { return flat }
        let inner = margin + "  "
        if let members = value.asObject {
            let lines = try members.map { "\(inner)\(JSONValue.string($0.key)): \(try indented($0.value, inner))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(margin)}"
        }
        if let elements = value.asArray {
            let lines = try elements.map { inner + (try indented($0, inner)) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(margin)]"
        }
        return flat
    }
}
