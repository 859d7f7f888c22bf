import Concurrency
import Foundation
import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

@testable import Web

/// What happens at the limits of the listener.
@Suite(.timeLimit(.minutes(3))) struct PostLimitTests {
    @Test func `more than the memory for documents is refused for the moment, and given back`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            let budget = office.budget
            var shares = [budget.reserve(BodyBudget.maximumBytes - 1)]
            #expect(shares[0] != nil)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-1", token: "one") }
                let busy = try await office.post("/v1/devices/phone-1", token: "one", Array("{}".utf8))
                #expect((busy.status, busy.code ?? "") == (503, "unavailable"))
                #expect(busy.headers.contains("retry-after: 10"))
                #expect(try await office.post("/v1/devices/phone-1", token: "one", [32]).status == 200)
                shares = []
                let answer = try await office.post("/v1/devices/phone-1", token: "one")
                #expect(answer.status == 200)
                group.cancelAll()
            }
            #expect(budget.bytes <= 2)
        }
    }

    @Test func `a document that does not arrive in time is given up`() async throws {
        // A minute is a second here.
        try await Office.with(clock: .scaled(by: 60)) { office in
            try office.expect("phone-1", token: "one")
            let answer = try await office.post(
                "/v1/devices/phone-1", token: "one", [UInt8](repeating: 32, count: 400_000),
                more: ["--limit-rate", "10k", "--header", "Expect:"])
            #expect((answer.status, answer.code ?? "") == (408, "request_timeout"))
            #expect(office.budget.bytes == 0)
        }
    }

    @Test func `a document that is not stored in time stays with nobody, and its sender is asked to come again`()
        async throws
    {
        try await Office.with(clock: .scaled(by: 120)) { office in
            try office.expect("phone-1", token: "one")
            let answer = try await office.post("/v1/devices/phone-1", token: "one")
            #expect((answer.status, answer.code ?? "") == (503, "unavailable"))
            #expect(answer.headers.contains("retry-after"))
            #expect(office.budget.bytes == 0)
        }
    }

    @Test func `a session that ends before the answer asks for the document again`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await office.connect("phone-1", token: "one") { link in _ = try await link.next() }
                }
                #expect(try await office.post("/v1/devices/phone-1", token: "one").status == 503)
                try await group.waitForAll()
            }
            // A connection lets go of its request a moment after the answer.
            let end = ContinuousClock.now + .seconds(5)
            while office.budget.bytes > 0, .now < end { await Task.yield() }
            #expect(office.budget.bytes == 0)
        }
    }

    /// What is no request: curl's arguments.
    private static let broken: [(what: String, arguments: [String])] = [
        ("a long head", ["--header", "X-Long: " + String(repeating: "x", count: WebConnections.maximumHead + 1)]),
        ("many fields", (0...WebConnections.maximumHeaders).flatMap { ["--header", "X-\($0): 1"] }),
        ("a length below zero", ["--header", "Content-Length: -1"]),
        ("a broken first line", ["--request-target", "not a path"]),
    ]

    @Test(arguments: broken) func `what is no request gets no further`(what: String, arguments: [String]) async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            // The answer always arrives: after it the listener ends its own side of the connection only, and waits for the sender's end.
            let answer = try await office.post("/v1/devices/phone-1", token: "one", [32], more: arguments)
            #expect(answer.status == 400, "\(answer)")
            #expect(answer.json == .null && answer.headers.contains("content-length: 0"))
            #expect(answer.headers.contains("connection: close"))
            // The listener still serves.
            #expect(try await office.post("/nothing").status == 404)
        }
    }

    @Test func `beyond the connections that are served at once, others wait and are served then`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-1", token: "one") }
                try await withThrowingTaskGroup(of: Int.self) { posts in
                    // An address may have fewer at once.
                    for number in 0..<(WebConnections.maximum + 18) {
                        posts.addTask {
                            try await office.post(
                                "/v1/devices/phone-1", token: "one", from: "127.0.0.\(2 + number)"
                            ).status
                        }
                    }
                    for try await status in posts { #expect(status == 200) }
                }
                group.cancelAll()
            }
        }
    }

    @Test func `a device that the gateway no longer waits for is forgotten`() throws {
        let senders = ExpectedSenders()
        guard let device = DeviceID("phone-1") else { return }
        _ = senders.expect(device, token: Secret("one"), presence: DevicePresence())
        senders.forget(device, at: .zero)
        let end = ExpectedSenders.memory
        #expect(senders.sender("phone-1", token: "one", uptime: end - .seconds(1)) != nil)
        #expect(senders.sender("phone-1", token: "one", uptime: end) == nil)
        _ = senders.expect(device, token: Secret("two"), presence: DevicePresence())
        #expect(senders.sender("phone-1", token: "one", uptime: end) == nil)
        #expect(senders.sender("phone-1", token: "two", uptime: end + end) != nil)
    }

    @Test func `a device that is no longer served is forgotten at once, and what waits is answered`() async throws {
        let senders = ExpectedSenders()
        guard let device = DeviceID("phone-1") else { return }
        let presence = DevicePresence()
        _ = senders.expect(device, token: Secret("one"), presence: presence)
        senders.forget(device, at: .zero)
        let sender = try #require(senders.sender("phone-1", token: "one", uptime: .zero))
        func document() -> Document {
            Document([], mediaType: "application/json", receivedAt: Timestamp(seconds: 0))
        }
        let waiting = document()
        sender.add(waiting)
        presence.end()
        #expect(senders.sender("phone-1", token: "one", uptime: .zero) == nil)
        let answer = DocumentAnswer.interrupted("The gateway no longer takes documents of this device.")
        #expect(try await waiting.answered() == answer)
        // One that was on its way meanwhile gets its answer, too.
        let late = document()
        sender.add(late)
        #expect(try await late.answered() == answer)
        #expect(sender.documents.count == 0)
        // The end of an earlier configuration is none of the present one.
        _ = senders.expect(device, token: Secret("two"), presence: DevicePresence())
        presence.end()
        #expect(senders.sender("phone-1", token: "two", uptime: .zero) != nil)
    }

    @Test func `a sender that leaves in the middle costs nothing`() async throws {
        try await Office.with { office in
            try office.expect("phone-1", token: "one")
            let body = [UInt8](repeating: 32, count: 1 << 20)
            let cut = try? await office.post(
                "/v1/devices/phone-1", token: "one", body, more: ["--limit-rate", "100k", "--max-time", "1"])
            #expect(cut == nil)
            while office.budget.bytes > 0 { await Task.yield() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await office.serve("phone-1", token: "one") }
                let answer = try await office.post("/v1/devices/phone-1", token: "one")
                #expect(answer.status == 200)
                group.cancelAll()
            }
        }
    }
}
