import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The limits of what a device can make the gateway keep or write.
@Suite(.timeLimit(.minutes(1))) struct LinkLimitTests {
    private func request(id: String) -> String {
        #"{"id":"\#(id)","method":"sample","params":{"sample":{"metric":"heart_rate","start":1763683200000,"value":60,"#
            + #""kind":"normal","user_initiated":false}}}"#
    }

    @Test func `takes an id of 1024 bytes, and no longer one`() async throws {
        try await withLink { peer, session in
            // Its quotes are two of the bytes.
            peer.send(lines: [request(id: String(repeating: "a", count: 1022))])
            let (samples, receipts) = try #require(try await session.nextEvents()?.first?.asSamples, "no sample")
            #expect(samples.count == 1)
            #expect(receipts.first?.mark.utf8.count == 1024)
            peer.send(lines: [request(id: String(repeating: "a", count: 1023))])
            guard case .malformed?? = try await session.nextEvents()?.first else {
                Issue.record("the long id was taken")
                return
            }
        }
    }

    @Test func `keeps one stage more than a sleep may have, so that a longer sleep is refused`() async throws {
        @Sendable func line(stages: Int) -> String {
            let list = (0..<stages).map { #"{"stage":"rem","start":\#($0),"end":\#($0)}"# }.joined(separator: ",")
            return #"{"method":"sample","params":{"sample":{"metric":"sleep","start":0,"end":9000,"kind":"normal","#
                + #""user_initiated":false,"stages":[\#(list)]}}}"#
        }
        try await withLink { peer, session in
            peer.send(lines: [line(stages: SampleLimits.stages)])
            let (samples, _) = try #require(
                try await session.nextEvents()?.first?.asSamples, "the longest sleep was refused")
            #expect(samples.first?.weight == 361)
            for count in [SampleLimits.stages + 1, 6_500] {
                #expect(line(stages: count).utf8.count < 256 * 1024)
                peer.send(lines: [line(stages: count)])
                let (samples, _) = try #require(
                    try await session.nextEvents()?.first?.asSamples, "a sleep of \(count) stages did not arrive")
                // The gateway refuses and counts it.
                #expect(samples.first?.violations.map(\.message) == ["must be at most 2880 stages"])
                #expect(samples.first?.weight == 361)
            }
        }
    }

    @Test func `keeps a hundred characters of a device's name`() async throws {
        let name = String(repeating: "n", count: 101)
        try await withLink(initialize: #"{"protocol":1,"device":{"model":"\#(name)"}}"#) { _, session in
            #expect(session.description.identity.model == String(name.dropLast()))
        }
    }

    @Test func `cuts what a device wants to say`() async throws {
        let log = LogRecorder()
        try await withLink(logger: log.logger) { peer, session in
            async let failure = failure { try await session.stopMeasurement(MeasurementID("1")) }
            try await peer.refuse("measurement/stop", code: 6, message: String(repeating: "m", count: 501))
            #expect(await failure?.message == String(repeating: "m", count: 500))
            peer.send(lines: [
                #"{"method":"log","params":{"level":"error","message":"\#(String(repeating: "l", count: 1001))"}}"#,
                #"{"method":"wear","params":{"worn":true}}"#,
            ])
            #expect(try await session.nextEvents() == [.wear(isWorn: true)])
        }
        let text = log.entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")
        #expect(text.contains(String(repeating: "l", count: 1000)))
        #expect(!text.contains(String(repeating: "l", count: 1001)))
    }

    @Test func `a hundred messages of a device are logged in a second, and the others are counted`() async throws {
        let log = LogRecorder()
        let clock = ManualClock()
        let message = #"{"method":"log","params":{"level":"error","message":"again"}}"#
        let wear = #"{"method":"wear","params":{"worn":true}}"#
        @Sendable func said() -> Int { log.entries.count { $0.message == "The device says" } }
        @Sendable func skipped() -> [String] { log.entries.compactMap { $0.metadata["link.skipped"] } }
        try await withLink(clock: clock, logger: log.logger) { peer, session in
            peer.send(lines: Array(repeating: message, count: 250) + [wear])
            _ = try await session.nextEvents()
            #expect(said() == 100)
            #expect(skipped() == [])
            clock.advance(by: .seconds(1))
            peer.send(lines: [message, wear])
            _ = try await session.nextEvents()
            #expect(said() == 101)
            #expect(skipped() == ["150"])
            peer.send(lines: Array(repeating: message, count: 100) + [wear])
            _ = try await session.nextEvents()
            #expect(said() == 200)
        }
        // The end says what is left to say.
        #expect(skipped() == ["150", "1"])
    }

    @Test func `lines that are nothing do not grow the inbox far beyond its room`() async throws {
        try await withLink { peer, session in
            let count = 100_000
            peer.send(String(repeating: "x\n", count: count))
            var taken = 0
            while taken < count {
                let events = try #require(try await session.nextEvents())
                #expect(events.count <= EventInbox.defaultCapacity + 1_024)
                taken += events.count
            }
            #expect(taken == count)
        }
    }
}
