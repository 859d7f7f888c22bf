import Contract
import Foundation
import MQTT
import TestSupport
import Testing
import Vitals

/// The access list for mosquitto that is shipped, held against the topics that the gateway uses.
@Suite struct AccessListTests {
    /// The topic filters that a user may write, or read.
    private static func filters(of user: String, _ right: String) throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../deploy/mosquitto/acl")
        var current = ""
        var filters: [String] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if words.first == "user" { current = words[1] }
            guard words.first == "topic", current == user else { continue }
            if words[1] == right || words[1] == "readwrite" { filters.append(words[2]) }
        }
        return filters
    }

    private static func allows(_ filters: [String], _ topic: String) -> Bool {
        filters.contains { TopicFilter($0).matches(topic) }
    }

    @Test func `lets the gateway publish every kind of message`() throws {
        let filters = try Self.filters(of: "vitals", "write")
        for (name, message) in ExampleMessages.all where message.topic.hasPrefix("vitals2mqtt/") {
            #expect(Self.allows(filters, message.topic), "\(name): \(message.topic)")
        }
        for topic in Topic.retained(of: Examples.device) {
            #expect(Self.allows(filters, Examples.topics.topic(topic)), "\(topic)")
        }
        #expect(!Self.allows(filters, "vitals2mqtt/home/ring-1/config/set"))
    }

    @Test func `lets the gateway read every command, and Home Assistant send it`() throws {
        let read = try Self.filters(of: "vitals", "read")
        let write = try Self.filters(of: "homeassistant", "write")
        for filter in Examples.topics.commandFilters {
            let topic = filter.replacing("+", with: "ring-1")
            #expect(Self.allows(read, topic), "\(filter)")
            #expect(Self.allows(write, topic), "\(filter)")
        }
        #expect(!Self.allows(write, "vitals2mqtt/home/ring-1/info"))
        #expect(Self.allows(read, Examples.topics.infoFilter.replacing("+", with: "gateway")))
        #expect(Self.allows(read, Examples.topics.infoFilter.replacing("+", with: "ring-1")))
    }
}
