import Foundation
import JSON
import MQTT
import TestSupport

extension InboundMessage {
    /// The payload, `null` if it is not JSON.
    var json: JSONValue { (try? JSONValue(parsing: payload)) ?? .null }
    var text: String { String(decoding: payload, as: UTF8.self) }
}

extension Bench {
    /// The root of all the gateway's topics.
    static let base = "vitals2mqtt/home"

    /// The first message on a topic of the gateway that fulfils a condition, from the position `start` on.
    @discardableResult
    func message(
        _ topic: String, from start: Int = 0,
        where condition: @escaping @Sendable (InboundMessage) -> Bool = { _ in true }
    ) async throws -> InboundMessage {
        let topic = "\(Self.base)/\(topic)"
        return try await subscriber.first(from: start, deadline: Self.timeout) {
            $0.topic == topic && condition($0)
        }
    }

    /// The messages so far on a topic of the gateway.
    func messages(_ topic: String, from start: Int = 0) -> [InboundMessage] {
        let messages = subscriber.messages
        guard start < messages.count else { return [] }
        return messages[start...].filter { $0.topic == "\(Self.base)/\(topic)" }
    }

    /// The values of a metric that count by now, each record with its newest revision.
    func values(_ device: String, _ metric: String) -> [Int] {
        var newest: [String: JSONValue] = [:]
        for sample in messages("\(device)/measurement/\(metric)").flatMap({ $0.json["samples"]?.asArray ?? [] }) {
            guard let id = sample["id"]?.asString, let revision = sample["rev"]?.asInt else { continue }
            if revision >= newest[id]?["rev"]?.asInt ?? 0 { newest[id] = sample }
        }
        return newest.values.filter { $0["withdrawn"]?.asBool != true }.compactMap { $0["value"]?.asInt }.sorted()
    }

    /// The number of messages so far.
    var position: Int { subscriber.messages.count }

    /// Publishes on a topic of the gateway.
    func publish(
        _ topic: String, _ payload: String, isRetained: Bool = false, responseTopic: String? = nil,
        correlation: String? = nil
    ) async throws {
        try await server.publish(
            OutgoingMessage(
                topic: "\(Self.base)/\(topic)", payload: Array(payload.utf8), isRetained: isRetained,
                responseTopic: responseTopic, correlationData: correlation.map { Array($0.utf8) }), as: account)
    }

    /// Sends a command with an id, and returns its final answer.
    @discardableResult
    func command(_ topic: String, id: String, _ members: String = "") async throws -> JSONValue {
        let start = position
        try await publish(topic, "{\"id\":\"\(id)\"\(members.isEmpty ? "" : "," + members)}")
        return try await answer(id, from: start).json
    }

    /// The final answer to the command with this id.
    @discardableResult
    func answer(_ id: String, from start: Int = 0) async throws -> InboundMessage {
        try await subscriber.first(from: start, deadline: Self.timeout) { message in
            message.topic.hasSuffix("response") && message.json["id"]?.asString == id
                && message.json["status"]?.asString != "accepted"
        }
    }

    /// Waits until a device is connected.
    func connected(_ device: String, from start: Int = 0) async throws {
        try await message("\(device)/link", from: start) { $0.json["state"]?.asString == "connected" }
    }

    /// Waits until the broker has published that the gateway, which was online, is gone: all that it published came before.
    func gone() async throws {
        _ = try await subscriber.wait(deadline: Self.timeout) { messages in
            messages.last { $0.topic == "\(Self.base)/gateway/status" }?.text == "offline"
        }
    }

    /// Waits until a synchronisation of a device has ended.
    func synced(_ device: String, from start: Int = 0) async throws {
        try await message("\(device)/sync", from: start) {
            $0.json["state"]?.asString == "idle" && $0.json["job"]?.asString != nil
                && $0.json["last_success_at"]?.asString != nil
        }
    }
}
