import GatewayKit
import GatewayTesting
import Recordings
import TestSupport
import Testing
import Vitals

@testable import Replay

@Suite struct PlaybackTests {
    /// A link on which these things happened, one every second.
    private static func link(_ contents: [RecordedEvent.Content]) throws -> RecordedLink {
        RecordedLink(
            number: 1, device: try #require(DeviceID("band-1")), driver: "link", kind: .bytes, opened: .zero,
            events: contents.enumerated().map { index, content in
                RecordedEvent(at: .seconds(index + 1), line: index + 3, content: content)
            })
    }

    private static func text(_ text: String) -> RecordedBytes { RecordedBytes(Array(text.utf8)) }

    private func play(
        _ contents: [RecordedEvent.Content], _ comparison: Comparison = .clocks, speed: Speed = .maximum,
        _ body: @escaping @Sendable (Playback, Simulation) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let playback = Playback(
                try Self.link(contents), path: "file", speed: speed, comparison: comparison,
                clock: simulation.gatewayClock)
            try await body(playback, simulation)
        }
    }

    @Test func `the device says nothing before the gateway has said what it had said`() throws {
        try play([.sent(Self.text("a\n")), .received(Self.text("b\n")), .end(.byDevice)]) { playback, simulation in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let value = try await playback.read(atMost: 100)
                    #expect(value == Array("b\n".utf8))
                    #expect(simulation.uptime == .seconds(9))
                }
                try await simulation.gatewayClock.sleep(for: .seconds(9))
                try playback.write(Array("a\n".utf8))
                try await group.waitForAll()
            }
            #expect(try await playback.read(atMost: 100).isEmpty)
            #expect(try await playback.read(atMost: 100).isEmpty)
        }
    }

    @Test(arguments: [(Speed.times(1), 2_000), (.times(2), 1_000), (.maximum, 0)])
    func `it is played at its speed`(speed: Speed, milliseconds: Int) throws {
        try play([.sent(Self.text("a\n")), .received(Self.text("b\n"))], speed: speed) { playback, simulation in
            try playback.write(Array("a\n".utf8))
            _ = try await playback.read(atMost: 100)
            #expect(simulation.uptime == .milliseconds(milliseconds))
        }
    }

    @Test func `what the gateway writes differently is reported with its place and both texts, and ends the link`()
        throws
    {
        try play([.sent(Self.text("{\"id\":1}\n")), .received(Self.text("b"))]) { playback, _ in
            let error = #expect(throws: LinkError.self) { try playback.write(Array("{\"id\":2}\n".utf8)) }
            #expect(
                error?.message == """
                    The gateway differs from the recording (file, line 3, byte 6 of what it writes). Recorded: 317d0a = "1}\\n". \
                    Now: 327d0a = "2}\\n".
                    """)
            await #expect(throws: LinkError.self) { try await playback.read(atMost: 1) }
        }
    }

    @Test func `more than was recorded is a difference, too`() throws {
        try play([.sent(Self.text("a\n"))]) { playback, _ in
            let error = #expect(throws: LinkError.self) { try playback.write(Array("a\nb\n".utf8)) }
            #expect(error?.message.contains("Recorded: nothing. Now: 620a") == true)
        }
    }

    @Test func `what the gateway does not write is reported after a minute`() throws {
        try play([.sent(Self.text("a\n")), .received(Self.text("b\n"))]) { playback, simulation in
            let error = await #expect(throws: LinkError.self) { try await playback.read(atMost: 1) }
            #expect(error?.message.contains("Recorded in line 3: a write of 610a") == true)
            #expect(simulation.uptime == Playback.timeout + .seconds(1))
        }
    }

    @Test func `a link that the gateway had left ends there`() throws {
        try play([.received(Self.text("b")), .end(.byGateway)]) { playback, _ in
            let value = try await playback.read(atMost: 9)
            #expect(value == [0x62])
            let error = await #expect(throws: LinkError.self) { try await playback.read(atMost: 9) }
            #expect(error?.code == .ended)
        }
    }
}

@Suite struct ComparisonTests {
    private func matches(_ comparison: Comparison, _ recorded: String, _ now: String) -> Bool {
        comparison.matches(Array(now.utf8), RecordedBytes(Array(recorded.utf8)))
    }

    @Test(arguments: [
        ("{\"time\":1767225600000}", "{\"time\":1767229999999}", true),
        ("{\"time\":1767225600}", "{\"time\":1767225600000}", true),
        ("{\"at\":\"2026-01-01T00:00:00Z\"}", "{\"at\":\"2026-11-23T06:00:00.25+01:00\"}", true),
        ("{\"day\":\"2026-01-01\"}", "{\"day\":\"2026-11-23\"}", true),
        ("{\"id\":7}", "{\"id\":8}", false),
        ("{\"id\":12345678901234567}", "{\"id\":12345678901234568}", false),
        ("{\"time\":1767225600000}", "{\"time\":1767225600000,\"x\":1}", false),
    ]) func `any moment stands for any other one, and nothing else does`(recorded: String, now: String, isSame: Bool) {
        #expect(matches(.clocks, recorded, now) == isSame)
        #expect(matches(.exact, recorded, now) == (recorded == now))
        #expect(matches(.length, recorded, now) == (recorded.utf8.count == now.utf8.count))
        #expect(matches(.none, recorded, now))
    }

    @Test func `what was masked stands for as many bytes, and the rest must match`() {
        let recorded = RecordedBytes(Array("a****b".utf8), masked: [1..<5])
        #expect(Comparison.exact.matches(Array("awxyzb".utf8), recorded))
        #expect(!Comparison.exact.matches(Array("awxyzc".utf8), recorded))
        #expect(!Comparison.exact.matches(Array("awxyb".utf8), recorded))
    }

    @Test func `the time of day that is written to a characteristic may be another one`() {
        let recorded = RecordedBytes([0xea, 7, 1, 1, 0, 0, 0, 4, 0, 0])
        let now: [UInt8] = [0xea, 7, 11, 23, 6, 0, 0, 1, 0, 0]
        #expect(Comparison.clocks.matches(now, recorded, of: BluetoothUUID(0x2a2b)))
        #expect(!Comparison.clocks.matches(now, recorded, of: BluetoothUUID(0x2a52)))
        #expect(!Comparison.exact.matches(now, recorded, of: BluetoothUUID(0x2a2b)))
    }
}
