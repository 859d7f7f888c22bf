import Foundation
import GatewayKit
import JSON
import Testing
import Vitals

@testable import Phones

/// What is published, and configurations of a test, written as JSON.
enum Publishers {
    /// The published messages of a publisher, in their order.
    static func messages(of publisher: String) throws -> [(topic: String, payload: String)] {
        let text = String(decoding: try Phone.document("Values/published.tsv"), as: UTF8.self)
        return text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            .filter { $0[0] == publisher }.map { ($0[1], $0[2]) }
    }

    /// The driver of these options, and what is wrong with them.
    static func driver(_ options: String) throws -> (driver: ValuesDriver, issues: [String]) {
        let value = configuration(try JSONValue(parsing: Array(options.utf8)))
        var reader = ConfigurationReader(value)
        let driver = ValuesDriver(options: &reader)
        return (driver, reader.finish().map(\.message))
    }

    /// What the driver reads of one topic with these values.
    static func topic(_ values: String, named name: String = "a/b") throws -> ValueTopic {
        let value = configuration(try JSONValue(parsing: Array(#"{"topic":"\#(name)","values":\#(values)}"#.utf8)))
        var reader = ConfigurationReader(value)
        let topic = ValueTopic(&reader, device: nil)
        let issues = reader.finish()
        #expect(issues.isEmpty, "\(issues)")
        return try #require(topic)
    }

    private static func configuration(_ value: JSONValue) -> ConfigurationValue {
        switch value {
        case .null: ConfigurationValue(.null)
        case .bool, .number: ConfigurationValue(.scalar("\(value)", isQuoted: false))
        case .string(let text): ConfigurationValue(.scalar(text, isQuoted: true))
        case .array(let elements): ConfigurationValue(.list(elements.map { configuration($0) }))
        case .object(let members):
            ConfigurationValue(.map(members.map { (ConfigurationKey($0.key), configuration($0.value)) }))
        }
    }
}
