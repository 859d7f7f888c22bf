import Concurrency
import Contract
import GatewayKit
import GatewayTesting
import JSON
import Logging
import MQTT
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Delivery
@testable import Gateway

/// An answer goes only to whoever may have it: who may read one device's answers learns nothing about another device.
@Suite struct AnswerScopeTests {
    private static let devices = ["anna-1", "bob-1", "cleo-1"]
    /// Commands, and members of their payloads.
    private static let commands = [
        ("sync", ""), ("sync", #","metrics":["sleep"]"#), ("history", #","metric":"heart_rate""#),
        ("history", #","metric":"steps""#), ("fetch", ""), ("time", ""), ("dance", ""), ("history", #","metric":1"#),
    ]

    /// A log of commands with its parser and store.
    private final class Home: Sendable {
        let scratch: ScratchStore
        let retained = RetainedStates(wakeup: Signal())
        let parser: CommandParser
        let settings: DeliverySettings
        /// The log, and how many stored answers were read.
        private let state: Mutex<(log: CommandLog, read: Int)>

        init() throws {
            let topics = ContractTopics(gateway: try #require(DeviceID("home")))
            let calendar = try #require(LocalCalendar(identifier: "UTC"))
            parser = CommandParser(topics: topics, discoveryPrefix: "homeassistant", calendar: calendar)
            settings = DeliverySettings(
                topics: topics, calendar: calendar, clock: .system,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            scratch = try ScratchStore()
            let log = CommandLog(
                store: scratch.store, retained: retained, settings: settings, generator: SplitMix64(seed: 1))
            state = Mutex((log: log, read: 0))
            retained.connect()
        }

        var log: CommandLog { state.withLock { $0.log } }

        /// Ends the process, and begins the next one.
        func restart(seed: UInt64) async {
            let log = CommandLog(
                store: scratch.store, retained: retained, settings: settings, generator: SplitMix64(seed: seed))
            state.withLock { $0.log = log }
            await log.answerForgotten()
        }

        /// Sends a command. Returns its envelope, and its key if it has to run.
        func send(
            _ scope: String, _ command: String, _ members: String = "", id: String = "1", responseTopic: String? = nil,
            isExcess: Bool = false
        ) async -> (envelope: CommandEnvelope?, key: String?) {
            let incoming = parser.parse(
                topic: "vitals2mqtt/home/\(scope)/command/\(command)",
                payload: Array("{\"id\":\"\(id)\"\(members)}".utf8), isRetained: false, responseTopic: responseTopic,
                correlation: Array(members.utf8), receivedAt: settings.clock.now)
            guard let envelope = incoming.envelope else { return (nil, nil) }
            if isExcess {
                await log.reject(Answer(.rejected, code: .busy, message: "full"), envelope)
                return (envelope, nil)
            }
            if case .rejected(let answer, _, _) = incoming {
                await log.reject(answer, envelope)
                return (envelope, nil)
            }
            return (envelope, await log.begin(envelope))
        }

        /// The answers since the last call.
        func answers() -> [(topic: String, correlation: String, payload: [UInt8])] {
            let all = scratch.entries.compactMap(\.answer)
            let read = state.withLock { state in
                defer { state.read = all.count }
                return state.read
            }
            let stored = all.dropFirst(read)
            var answers = stored.map { answer in
                (
                    topic: answer.topic, correlation: String(decoding: answer.correlation ?? [], as: UTF8.self),
                    payload: answer.payload
                )
            }
            while let entry = retained.next() {
                guard case .message(let message) = entry else { continue }
                let correlation = String(decoding: message.correlationData ?? [], as: UTF8.self)
                answers.append((topic: message.topic, correlation: correlation, payload: message.payload))
            }
            return answers
        }

        /// The only answer since the last call.
        func answer() throws -> JSONValue {
            let answers = answers()
            #expect(answers.count == 1)
            return try JSONValue(parsing: try #require(answers.first).payload)
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `whatever ids devices share, no answer appears where another device's answers go, or a former device's`(
        seed: UInt64
    ) async throws {
        let home = try Home()
        var random = SplitMix64(seed: seed)
        var running: [(key: String, secret: String, scope: String)] = []
        var owners: [String: Int] = [:]
        var (given, shared) = (0, 0)
        /// Checks that each answer belongs to the topic's device and its present owner, and to what its sender asked.
        func check() throws {
            for (topic, correlation, payload) in home.answers() {
                let levels = topic.split(separator: "/").map(String.init)
                let scope = levels[0] == "response" ? levels[1] : levels[2]
                let body = try JSONValue(parsing: payload)
                #expect(body["device"]?.asString ?? DeviceID.reserved == scope, "\(topic)")
                guard let message = body["message"]?.asString, message.hasPrefix("secret ") else { continue }
                let command = body["command"]?.asString ?? ""
                #expect(message == "secret of \(scope) \(owners[scope, default: 0]) \(command) \(correlation)")
                if body["status"]?.asString != "accepted" { shared += 1 }
            }
        }
        func end(_ index: Int) async {
            let command = running.remove(at: index)
            if Bool.random(using: &random) {
                await home.log.complete(command.key, Answer(.accepted, message: command.secret))
            }
            await home.log.complete(command.key, Answer(.done, message: command.secret))
            given += 1
        }
        for _ in 0..<300 {
            let scope = (Self.devices + [DeviceID.reserved]).randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                running = []
                await home.restart(seed: random.next())
            case 1:
                // Removed, and added for somebody else.
                guard let device = DeviceID(scope) else { continue }
                while let index = running.firstIndex(where: { $0.scope == scope }) { await end(index) }
                try check()
                try await home.scratch.base.forget(device)
                await home.log.forget(device)
                owners[scope, default: 0] += 1
            case 2..<12:
                if !running.isEmpty { await end(Int.random(in: 0..<running.count, using: &random)) }
            default:
                let (command, members) = Self.commands.randomElement(using: &random) ?? ("", "")
                let sent = await home.send(
                    scope, command, members, id: "\(Int.random(in: 0..<3, using: &random))",
                    responseTopic: Bool.random(using: &random) ? "response/\(scope)" : nil,
                    isExcess: Int.random(in: 0..<8, using: &random) == 0)
                guard let key = sent.key else { break }
                let secret = "secret of \(scope) \(owners[scope, default: 0]) \(command) \(members)"
                running.append((key: key, secret: secret, scope: scope))
            }
            try check()
        }
        #expect(shared > given, "No sender got the answer of an earlier one.")
    }

    @Test func `an id belongs to its device and its command`() async throws {
        let home = try Home()
        let keys = [
            await home.send("anna-1", "sync").key, await home.send("bob-1", "sync").key,
            await home.send("anna-1", "fetch").key, await home.send("gateway", "sync").key,
        ]
        #expect(Set(keys.compactMap { $0 }).count == 4)
        #expect(home.answers().isEmpty)
    }

    @Test func `the id of another content is refused while that one runs, after its answer and after a restart`()
        async throws
    {
        let home = try Home()
        let (rates, steps) = (#","metric":"heart_rate""#, #","metric":"steps""#)
        let key = try #require(await home.send("anna-1", "history", rates).key)
        func expectRefusal() async throws {
            #expect(await home.send("anna-1", "history", steps).key == nil)
            let answer = try home.answer()
            #expect(answer["status"] == "rejected")
            #expect(answer["code"] == "id_reused")
            #expect(answer["id"] == "1")
        }
        try await expectRefusal()
        await home.log.complete(key, Answer(.done, message: "rates"))
        #expect(try home.answer()["message"] == "rates")
        try await expectRefusal()
        await home.restart(seed: 2)
        try await expectRefusal()
        // The first one keeps its answer, in whatever form it comes.
        let again = await home.send("anna-1", "history", #","from":null,"metric": "heart_rate","issued_at":null"#)
        #expect(again.key == nil)
        #expect(try home.answer()["message"] == "rates")
    }

    @Test func `the id of an answer that the store did not take is refused for another content, too`() async throws {
        let home = try Home()
        home.scratch.fail { $0 == .complete ? StoreError(.full, "The disk is full.") : nil }
        let key = try #require(await home.send("anna-1", "fetch").key)
        await home.log.complete(key, Answer(.done))
        #expect(try home.answer()["status"] == "done")
        #expect(await home.send("anna-1", "fetch", #","metrics":["stress"]"#).key == nil)
        #expect(try home.answer()["code"] == "id_reused")
        // Whoever gets the name of the device gets none of its answers.
        let device = try #require(DeviceID("anna-1"))
        await home.log.forget(device)
        home.scratch.fail(nil)
        try await home.scratch.base.forget(device)
        await home.log.storeUnstored()
        #expect(home.answers().isEmpty)
    }

    @Test func `a repeat in a device's name gets no answer of the gateway's command`() async throws {
        let home = try Home()
        let key = try #require(await home.send("gateway", "sync").key)
        // No device can have this name, so the answer has none.
        _ = await home.send("Bob", "sync", responseTopic: "response/bob", isExcess: true)
        #expect(try home.answer()["code"] == "busy")
        await home.log.complete(key, Answer(.done))
        #expect(home.answers().map(\.topic) == ["vitals2mqtt/home/gateway/response"])
    }

    @Test func `commands to one device, or to the gateway, leave places for commands to others`() async throws {
        let home = try Home()
        for scope in ["gateway", "anna-1"] {
            var count = 0
            while await home.send(scope, "sync", id: "\(count)").key != nil { count += 1 }
            // Half of what is free for the first, half of the rest for the second.
            #expect(count == CommandLog.maximumRunning / (scope == "gateway" ? 2 : 4))
            #expect(try home.answer()["code"] == "busy")
        }
        #expect(await home.send("bob-1", "sync").key != nil)
    }
}
