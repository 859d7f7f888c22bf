import GatewayKit
import JSON
import Synchronization
import TestSupport
import Testing
import Vitals

/// Unasked input from the device, through a whole session.
@Suite(.timeLimit(.minutes(1))) struct LinkEventTests {
    private func line(_ number: Int, id: String? = nil) -> String {
        let start = 1_763_683_200_000 + number * 1_000
        return #"{"jsonrpc":"2.0",\#(id.map { "\"id\":\($0)," } ?? "")"method":"sample","params":{"sample":"#
            + #"{"metric":"heart_rate","start":\#(start),"end":\#(start),"kind":"normal","user_initiated":false,"value":60}}}"#
    }

    private func sample(_ number: Int) -> Sample {
        Sample(
            metric: .heartRate, start: Timestamp(milliseconds: 1_763_683_200_000 + Int64(number) * 1_000),
            reading: .value(60))
    }

    @Test func `makes one event of the samples that came in one piece`() async throws {
        try await withLink { peer, session in
            peer.send(lines: (0..<300).map { line($0) })
            let events = try await session.nextEvents()
            #expect(events == [.samples((0..<300).map { sample($0) }, receipts: [])])
        }
    }

    @Test func `keeps the order of samples and other events`() async throws {
        try await withLink { peer, session in
            peer.send(lines: [line(0), line(1), #"{"method":"wear","params":{"worn":false}}"#, line(2)])
            let events = try await session.nextEvents()
            #expect(
                events == [
                    .samples([sample(0), sample(1)], receipts: []), .wear(isWorn: false),
                    .samples([sample(2)], receipts: []),
                ])
        }
    }

    @Test func `keeps requests apart from notifications, with a receipt for each`() async throws {
        try await withLink { peer, session in
            peer.send(lines: [line(0), line(1, id: "7"), line(2, id: #""a\"b""#), line(3)])
            let events = try await session.nextEvents()
            #expect(
                events == [
                    .samples([sample(0)], receipts: []),
                    .samples([sample(1), sample(2)], receipts: [SampleReceipt("7"), SampleReceipt(#""a\"b""#)]),
                    .samples([sample(3)], receipts: []),
                ])
        }
    }

    @Test func `answers requests with samples in one write when they are settled, and not before`() async throws {
        try await withLink { peer, session in
            peer.send(lines: [line(0, id: "7"), line(1, id: #""b""#), line(2, id: "9.5")])
            let events = try await session.nextEvents()
            let (_, receipts) = try #require(events?.first?.asSamples, "no samples")
            let before = peer.writes.withLock { $0 }
            try await session.settle(
                zip(receipts, [.new, .refused(DeviceError(.failure, "too old")), .known]).map {
                    SettledReceipt($0, $1)
                })
            #expect(peer.writes.withLock { $0 } == before + 1)
            #expect(try await peer.next() == ["jsonrpc": "2.0", "id": 7, "result": [:]])
            #expect(
                try await peer.next() == ["jsonrpc": "2.0", "id": "b", "error": ["code": 3, "message": "too old"]])
            #expect(try await peer.next() == ["jsonrpc": "2.0", "id": 9.5, "result": [:]])
        }
    }

    @Test func `leaves an impossible sample to the gateway, which counts it`() async throws {
        try await withLink { peer, session in
            peer.send(
                lines: [
                    #"{"id":5,"method":"sample","params":{"sample":{"metric":"heart_rate","start":1763683200000,"value":900}}}"#
                ])
            let events = try await session.nextEvents()
            let sample = Sample(
                metric: .heartRate, start: Timestamp(milliseconds: 1_763_683_200_000), reading: .value(900))
            #expect(events == [.samples([sample], receipts: [SampleReceipt("5")])])
        }
    }

    @Test(
        arguments: [
            (
                #""sample""#, #""sample":{"metric":"heart_rate","start":1763683200000,"value":"900"}"#,
                Metric.heartRate, true, nil
            ),
            (#""sample""#, #""sample":{"metric":"stress","value":null}"#, .stress, false, nil),
            (#""measurement/sample""#, #""measurement":"m","sample":{"value":900}"#, nil, false, #""m""#),
            (#""measurement/sample""#, #""sample":{"metric":"bogus"},"measurement":7"#, nil, false, "7"),
        ] as [(String, String, Metric?, Bool, String?)])
    func `refuses a request with a sample that cannot be read, and reports what is known of it`(
        method: String, params: String, metric: Metric?, hasStart: Bool, measurement: String?
    ) async throws {
        try await withLink { peer, session in
            peer.send(lines: [#"{"id":5,"method":\#(method),"params":{\#(params)}}"#])
            let answer = try await peer.next()
            #expect(answer["id"] == 5)
            #expect(answer["error"]?["code"] == 3)
            guard case .unreadable(let sample)? = try await session.nextEvents()?.first else {
                Issue.record("not counted")
                return
            }
            #expect(sample.metric == metric)
            #expect((sample.start != nil) == hasStart)
            #expect(sample.measurement?.text == measurement)
            #expect(!sample.problem.contains("900"), "a health value must not be logged")
        }
    }

    @Test func `answers unknown methods and notifications that are sent as requests`() async throws {
        try await withLink { peer, session in
            peer.send(lines: [
                #"{"jsonrpc":"2.0","id":1,"method":"tea/make","params":{}}"#, #"{"jsonrpc":"2.0","method":"tea/make"}"#,
                #"{"jsonrpc":"2.0","id":"w","method":"wear","params":{"worn":true}}"#,
                #"{"jsonrpc":"2.0","id":3,"method":"wear","params":{"worn":"yes"}}"#,
            ])
            #expect(try await peer.next()["error"]?["code"] == -32601)
            #expect(try await peer.next() == ["jsonrpc": "2.0", "id": "w", "result": [:]])
            let refusal = try await peer.next()
            #expect(refusal["id"] == 3)
            #expect(refusal["error"]?["code"] == 3)
            let events = try await session.nextEvents()
            #expect(events?.first == .wear(isWorn: true))
            #expect(events?.count == 2)
        }
    }

    @Test func `puts lines together that come in pieces`() async throws {
        try await withLink { peer, session in
            let text = line(0) + "\r\n\n" + line(1) + "\n"
            for character in text { peer.send(String(character)) }
            var samples: [Sample] = []
            while samples.count < 2, let events = try await session.nextEvents() {
                for case .samples(let some, _) in events { samples += some }
            }
            #expect(samples == [sample(0), sample(1)])
        }
    }

    @Test func `stops reading while nobody takes the events`() async throws {
        try await withLink { peer, session in
            let perPiece = 300
            for piece in 0..<40 { peer.send(lines: (0..<perPiece).map { line(piece * perPiece + $0) }) }
            var pieces: [Int] = []
            var count = 0
            while count < 40 * perPiece, let events = try await session.nextEvents() {
                var taken = 0
                for case .samples(let samples, _) in events { taken += samples.count }
                pieces.append(taken)
                count += taken
            }
            #expect(count == 40 * perPiece)
            #expect(pieces.allSatisfy { $0 < EventInbox.defaultCapacity + perPiece })
        }
    }
}
