import Contract
import Foundation
import MQTT
import TestSupport
import Testing
import Vitals

/// The access list that is shipped, in a real mosquitto: every topic of the contract's pages, for every kind of user.
@Suite(.timeLimit(.minutes(2))) struct AccessRightsTests {
    /// The users that may connect. A stranger has an account, and no line in the list.
    private enum User: String, CaseIterable {
        case vitals, homeassistant, recorder, commander, stranger
        /// The phone of a person.
        case anna

        var account: MosquittoAccount { MosquittoAccount(username: rawValue, password: "of-\(rawValue)") }
        /// A topic of the test, which all may use: its message comes after all others.
        var endTopic: String { "check/\(rawValue)" }
    }

    /// What a user can do with a topic.
    private struct Right: Hashable, CustomStringConvertible {
        var user: User
        var topic: String
        var description: String { "\(user) \(topic)" }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    private static let admin = MosquittoAccount(username: "admin", password: "of-admin")
    private static let device = "vitals2mqtt/home/ring-1"

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The topics of the contract's table, with the way that their messages go.
    private static func contractTopics() throws -> [(topic: String, isOutgoing: Bool)] {
        try text("docs/Contract.md").matches(of: /\n\| `([BD]\/[^`]+)` \| (out|in)/).map {
            match in
            var topic =
                match.1.hasPrefix("B/") ? "vitals2mqtt/home" + match.1.dropFirst() : device + match.1.dropFirst()
            for (name, value) in [
                ("<metric>", "heart_rate"), ("<YYYY-MM-DD>", "2026-11-20"), ("<rule>", "stress_high"),
                ("<name>", "sync"),
            ] { topic = topic.replacing(name, with: value) }
            return (topic, match.2 == "out")
        }
    }

    private static let announcements = [
        "homeassistant/device/vitals2mqtt_home_ring-1/config",
        "homeassistant/sensor/vitals2mqtt_home_ring-1/steps/config",
    ]
    private static let birth = "homeassistant/status"
    /// What `vitals2mqtt doctor` reads.
    private static let own = ["vitals2mqtt/home/gateway/status", "vitals2mqtt/home/gateway/response"]
    /// Answers to MQTT 5 requests: each client has its own level.
    private static let responses = [User.homeassistant, .commander, .stranger].map { "response/\($0)/1" }
    /// Documents of phones. No user here is Ben.
    private static let documents = ["phones/anna", "phones/ben"]
    /// What no user of this test may read.
    private static let others = [
        "vitals2mqtt/home", "\(device)/other", "\(device)/latest/heart_rate/more", "\(device)/config/set/more",
        "vitals2mqtt/home/ring-1/extra/command/sync", "zigbee2mqtt/lamp/set", "homeassistant/automation/x/trigger",
    ]

    private static func rights() throws -> (write: Set<Right>, read: Set<Right>, topics: [String]) {
        let contract = try contractTopics()
        #expect(contract.count == 26)
        var (write, read) = (Set<Right>(), Set<Right>())
        for (topic, isOutgoing) in contract {
            if isOutgoing {
                write.insert(Right(user: .vitals, topic: topic))
                // It sees whether the broker takes what it publishes, and what an earlier store left.
                let isRead = topic.hasSuffix("/info") || own.contains(topic)
                if isRead { read.insert(Right(user: .vitals, topic: topic)) }
            } else {
                read.insert(Right(user: .vitals, topic: topic))
                for user in [User.homeassistant, .commander] { write.insert(Right(user: user, topic: topic)) }
            }
            read.insert(Right(user: .homeassistant, topic: topic))
            if isOutgoing { read.insert(Right(user: .recorder, topic: topic)) }
            // A commander sees its answers, and whether the gateway is online.
            if topic.hasSuffix("/response") || topic.hasSuffix("/status") || topic.hasSuffix("/availability") {
                read.insert(Right(user: .commander, topic: topic))
            }
        }
        for topic in announcements {
            write.insert(Right(user: .vitals, topic: topic))
            for user in [User.vitals, .homeassistant] { read.insert(Right(user: user, topic: topic)) }
        }
        write.insert(Right(user: .homeassistant, topic: birth))
        for user in [User.vitals, .homeassistant] { read.insert(Right(user: user, topic: birth)) }
        for topic in responses { write.insert(Right(user: .vitals, topic: topic)) }
        read.insert(Right(user: .homeassistant, topic: "response/homeassistant/1"))
        read.insert(Right(user: .commander, topic: "response/commander/1"))
        for topic in documents { read.insert(Right(user: .vitals, topic: topic)) }
        write.insert(Right(user: .anna, topic: "phones/anna"))
        // Home Assistant may read all below its own prefix and the gateway's.
        for topic in others where topic.hasPrefix("vitals2mqtt/") || topic.hasPrefix("homeassistant/") {
            read.insert(Right(user: .homeassistant, topic: topic))
        }
        return (write, read, contract.map(\.topic) + announcements + [birth] + responses + documents + others)
    }

    private func withServer(_ body: (MosquittoServer) async throws -> Void) async throws {
        let shipped = try Self.text("deploy/mosquitto/acl").split(separator: "\n", omittingEmptySubsequences: false)
        var users = Dictionary(uniqueKeysWithValues: User.allCases.map { ($0.account.username, $0.account.password) })
        users[Self.admin.username] = Self.admin.password
        let accessList = shipped.map(String.init) + ["user admin", "topic readwrite #", "pattern readwrite check/%u"]
        try await withMosquitto(MosquittoOptions(users: users, accessList: accessList), body)
    }

    private func message(_ topic: String, _ text: String) -> OutgoingMessage {
        OutgoingMessage(topic: topic, payload: Array(text.utf8), qos: .atLeastOnce)
    }

    @Test func `each user writes the topics of its part, and no others`() async throws {
        let (wanted, _, topics) = try Self.rights()
        try await withServer { server in
            try await server.withSubscriber("#", as: Self.admin) { subscriber in
                for user in User.allCases {
                    try await server.publish(user.rawValue, onEachOf: topics, as: user.account)
                    try await server.publish(message(user.endTopic, user.rawValue), as: user.account)
                }
                let received = try await subscriber.wait { messages in
                    User.allCases.allSatisfy { user in messages.contains { $0.topic == user.endTopic } }
                }
                let found = Set(
                    received.compactMap { message in
                        User(rawValue: String(decoding: message.payload, as: UTF8.self))
                            .map { Right(user: $0, topic: message.topic) }
                    }.filter { !$0.topic.hasPrefix("check/") })
                #expect(found.subtracting(wanted).isEmpty, "may write, and must not")
                #expect(wanted.subtracting(found).isEmpty, "must write, and may not")
            }
        }
    }

    @Test func `each user reads the topics of its part, and no others`() async throws {
        let (_, wanted, topics) = try Self.rights()
        try await withServer { server in
            try await subscribe(User.allCases[...], to: server, [:]) { subscribers in
                try await server.publish("x", onEachOf: topics, as: Self.admin)
                var found: Set<Right> = []
                for (user, subscriber) in subscribers {
                    // Subscribers of everything get what they may read, in order.
                    try await server.publish(message(user.endTopic, "end"), as: Self.admin)
                    let received = try await subscriber.wait { $0.contains { $0.topic == user.endTopic } }
                    for message in received where message.topic != user.endTopic {
                        found.insert(Right(user: user, topic: message.topic))
                    }
                }
                #expect(found.subtracting(wanted).isEmpty, "may read, and must not")
                #expect(wanted.subtracting(found).isEmpty, "must read, and may not")
            }
        }
    }

    private func subscribe(
        _ users: ArraySlice<User>, to server: MosquittoServer, _ subscribers: [User: Subscriber],
        _ body: ([User: Subscriber]) async throws -> Void
    ) async throws {
        guard let user = users.first else { return try await body(subscribers) }
        try await server.withSubscriber("#", as: user.account) { subscriber in
            try await subscribe(
                users.dropFirst(), to: server, subscribers.merging([user: subscriber], uniquingKeysWith: { $1 }), body)
        }
    }

    @Test func `nobody connects without an account, or with a wrong password`() async throws {
        try await withServer { server in
            let status = message("\(Self.device)/info", "x")
            for account in [nil, MosquittoAccount(username: "vitals", password: "wrong")] {
                await #expect(throws: ProgramError.self) { try await server.publish(status, as: account) }
            }
        }
    }
}
