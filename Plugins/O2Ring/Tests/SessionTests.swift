import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import O2Ring

@Suite struct SessionTests {
    static let start = Timestamp(seconds: 1_773_129_600)

    /// Opens a session with a ring in a simulation.
    private func withRing(
        _ recordings: [O2Recording] = [], live: Duration = .zero,
        _ body: @escaping @Sendable (any DeviceSession, ScriptedO2Ring, Simulation) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, start: Self.start, deadline: .hours(5)) { simulation in
            let clock = simulation.gatewayClock
            let files = Dictionary(uniqueKeysWithValues: recordings.map { ($0.name, $0.content) })
            let ring = ScriptedO2Ring(clock: clock, files: files)
            let context = SessionContext.testing(try #require(DeviceID("ring")), clock: clock)
            try await O2Driver(O2Options(liveEvery: live)).withSession(
                over: .gatt(ring.peripheral.link), context: context
            ) { session in try await body(session, ring, simulation) }
        }
    }

    /// All pages of the two days before `start`, up to `end`.
    private static func history(
        _ session: any DeviceSession, _ metric: Metric, to end: Timestamp = SessionTests.start
    ) async throws -> (samples: [Sample], malformed: Int) {
        var request = HistoryRequest(metric: metric, from: start - .days(2), to: end)
        var (samples, malformed): ([Sample], Int) = ([], 0)
        while true {
            let page = try await session.history(request)
            samples += page.samples
            malformed += page.malformed
            guard let next = page.next else { return (samples, malformed) }
            request.page = next
        }
    }

    @Test func `a session reports who the ring is, what time it has, and what can be set`() throws {
        try withRing { session, _, _ in
            let description = session.description
            #expect(
                description.identity
                    == DeviceIdentity(
                        manufacturer: nil, model: "1641", serial: "2301xxxxxx", firmware: "1.4.0", hardware: "AA"))
            #expect(description.clock == DeviceClock(now: Self.start))
            #expect(
                description.capabilities
                    == Capabilities([
                        .bloodOxygen: [.history, .alert], .heartRate: [.history, .alert, .restAlert], .battery: [],
                    ]))
            let events = try await session.nextEvents()
            #expect(events == [.battery(percent: 85, isCharging: true)])
        }
    }

    @Test func `the clock is set to local time`() throws {
        try withRing { session, ring, _ in
            // 2026-06-30T22:30:00Z is 00:30 of the next day in Berlin.
            try await session.setClock(Timestamp(seconds: 1_782_858_600), utcOffset: 120)
            let sent = ring.peripheral.writes.suffix(3).flatMap(\.bytes)
            #expect(
                String(decoding: sent.dropFirst(7).dropLast(), as: UTF8.self) == #"{"SetTIME":"2026-07-01,00:30:00"}"#)
        }
    }

    @Test func `the limits are read, written and read back`() throws {
        try withRing { session, ring, _ in
            let oxygen = try await session.monitorConfiguration(of: .bloodOxygen)
            #expect(oxygen.limits == [.value: AlertLimits(isEnabled: true, lower: 88, upper: 100)])
            let pulse = try await session.monitorConfiguration(of: .heartRate)
            #expect(pulse.limits == [.resting: AlertLimits(isEnabled: false, lower: 50, upper: 120)])
            try await session.setMonitorConfiguration(
                MonitorConfiguration(
                    of: .heartRate, limits: [.resting: AlertLimits(isEnabled: true, lower: 45, upper: 140)]))
            let settings = ring.withState { $0.settings }
            #expect([settings["HRSwitch"], settings["HRLowThr"], settings["HRHighThr"]] == ["1", "45", "140"])
            for (lower, upper) in [(79.0, 100.0), (96, 100), (88, 99), (88.5, 100)] {
                await #expect {
                    try await session.setMonitorConfiguration(
                        MonitorConfiguration(
                            of: .bloodOxygen, limits: [.value: AlertLimits(isEnabled: true, lower: lower, upper: upper)]
                        ))
                } throws: { ($0 as? DeviceError)?.code == .invalid }
            }
        }
    }

    @Test func `a long recording is read in parts, and others have their turn`() throws {
        // Eight hours: 36 kB.
        try withRing([O2Recording(start: [2026, 3, 9, 23, 0, 0], count: 7200)]) { session, ring, _ in
            let (samples, malformed) = try await Self.history(session, .bloodOxygen)
            #expect(samples.count == 7200 - 144)
            #expect(malformed == 0)
            let blocks = ring.withState { $0.blocks }
            #expect(blocks == (40 + 36_000 + 479) / 480)
            // It is in memory now; only its size is asked for.
            _ = try await Self.history(session, .heartRate)
            #expect(ring.withState { $0.blocks } == blocks)
        }
    }

    @Test func `a recording that still runs waits, and is read when it is over`() throws {
        var running = O2Recording(start: [2026, 3, 10, 2, 0, 0], count: 100, size: 40)
        running.duration = 0
        try withRing([O2Recording(start: [2026, 3, 10, 0, 0, 0], count: 50), running]) { session, ring, _ in
            let first = try await Self.history(session, .bloodOxygen)
            #expect(first.samples.count == 49)
            #expect(first.malformed == 0)
            let whole = O2Recording(start: [2026, 3, 10, 2, 0, 0], count: 150)
            ring.withState { $0.files[whole.name] = whole.content }
            let second = try await Self.history(session, .bloodOxygen)
            #expect(second.samples.count == 49 + 147)
            // The recording continues after a pause.
            let longer = O2Recording(start: [2026, 3, 10, 2, 0, 0], count: 200)
            ring.withState { $0.files[longer.name] = longer.content }
            #expect(try await Self.history(session, .bloodOxygen).samples.count == 49 + 196)
        }
    }

    @Test func `a recording of ten minutes ahead is read in its time, and one of ten days waits`() throws {
        // It is nine o'clock in Berlin.
        let starts = [[2026, 3, 10, 8, 0, 0], [2026, 3, 10, 9, 10, 0], [2026, 3, 20, 9, 0, 0]]
        try withRing(starts.map { O2Recording(start: $0, count: 50) }) { session, _, _ in
            let now = try await Self.history(session, .heartRate)
            #expect(now.samples.count == 49 && now.malformed == 0)
            let later = try await Self.history(session, .heartRate, to: Self.start + .minutes(20))
            #expect(later.samples.count == 98 && later.malformed == 0)
            #expect(later.samples[49].start == Self.start + .minutes(10))
        }
    }

    @Test func `a recording that is deleted is passed over, and one of another format is counted`() throws {
        let old = O2Recording(start: [2026, 3, 9, 23, 0, 0], count: 60, version: 5)
        let gone = O2Recording(start: [2026, 3, 9, 23, 30, 0], count: 600)
        let kept = O2Recording(start: [2026, 3, 10, 1, 0, 0], count: 50)
        try withRing([old, gone, kept]) { session, ring, _ in
            ring.withState { $0.change = (1, [old.name: old.content, kept.name: kept.content]) }
            ring.withState { $0.files["readme"] = [1] }
            let (samples, malformed) = try await Self.history(session, .heartRate)
            #expect(malformed == 2)
            #expect(samples.suffix(49).first?.start == Timestamp(seconds: 1_773_100_800))
            #expect(try await Self.history(session, .heartRate).samples.count == 49)
        }
    }

    @Test(arguments: [(1, 0), (0, 1)]) func `a reply that is damaged or lost is asked for again`(
        damaged: Int, lost: Int
    ) throws {
        try withRing([O2Recording(count: 300)]) { session, ring, _ in
            ring.withState { ($0.damaged, $0.lost) = (damaged, lost) }
            let history = try await Self.history(session, .heartRate)
            #expect(history.samples.count == 294)
        }
    }

    @Test func `a reply that comes late answers nothing but its own request`() throws {
        try withRing([O2Recording(count: 300)]) { session, ring, simulation in
            // The ring's information, its repetition, and what is asked next.
            ring.withState { $0.held = 3 }
            async let history = Self.history(session, .heartRate)
            for pause in [3200, 900, 100] {
                try await simulation.gatewayClock.sleep(for: .milliseconds(pause))
                ring.release()
            }
            #expect(try await history.samples.count == 294)
        }
    }

    @Test func `a clock whose answer is lost is set again to the time that it is then`() throws {
        try withRing { session, ring, simulation in
            ring.withState { $0.lost = 1 }
            try await session.setClock(simulation.date, utcOffset: 60)
            #expect(simulation.uptime >= O2RequestQueue.timeout)
            #expect(ring.withState { $0.skew } == 0)
        }
    }

    @Test func `a ring that does not answer ends the session after six seconds`() throws {
        try withRing { session, ring, simulation in
            ring.withState { $0.isSilent = true }
            let before = simulation.uptime
            for _ in 0..<2 {
                await #expect { try await session.ping() } throws: { ($0 as? DeviceError)?.code == .timeout }
            }
            #expect(simulation.uptime - before == .seconds(6))
        }
    }

    @Test func `present values come as often as wished, while the ring is worn`() throws {
        try withRing(live: .seconds(30)) { session, ring, simulation in
            var events: [DeviceEvent] = []
            while simulation.uptime < .seconds(95), let next = try await session.nextEvents() { events += next }
            let samples = events.flatMap { event -> [Sample] in
                if case .samples(let samples, _) = event { samples } else { [] }
            }
            #expect(samples.map(\.value) == Array(repeating: [98, 66], count: samples.count / 2).flatMap { $0 })
            #expect(samples.count >= 8)
            #expect(events.contains(.wear(isWorn: true)))
            ring.withState { $0.values = bytes("ff ff ff 00 00 00 00 60 00 05 00 00 00") }
            let last = try await session.nextEvents()
            #expect(last == [.wear(isWorn: false), .battery(percent: 96, isCharging: false)])
        }
    }

    /// Cut values, garbage, delays and lost connections: nothing traps or hangs, and every sample lies in its range.
    @Test(arguments: UInt64(1)...12) func `works with a bad radio`(seed: UInt64) throws {
        try Simulation.run(seed: seed, start: Self.start, deadline: .hours(20)) { simulation in
            for _ in 0..<4 {
                var random = simulation.random()
                let radio = GATTFaults(
                    breaksAfter: Int.random(in: 20...600, using: &random), delay: .zero...(.milliseconds(50)),
                    cut: Int.random(in: 0...20, using: &random), garbage: Int.random(in: 0...20, using: &random))
                let ring = ScriptedO2Ring(
                    clock: simulation.gatewayClock, files: ConformanceTests.files, radio: radio, random: random)
                let context = SessionContext.testing(try #require(DeviceID("ring")), clock: simulation.gatewayClock)
                do {
                    try await O2Driver(O2Options()).withSession(over: .gatt(ring.peripheral.link), context: context) {
                        session in
                        for metric in [Metric.heartRate, .bloodOxygen] {
                            _ = try? await session.monitorConfiguration(of: metric)
                            guard let read = try? await Self.history(session, metric) else { continue }
                            #expect(read.samples.allSatisfy { $0.start < Self.start && $0.metric == metric })
                        }
                        ring.peripheral.disconnect()
                        while let events = try await session.nextEvents() {
                            for case .battery(let percent, _) in events { #expect((0...100).contains(percent)) }
                        }
                    }
                } catch { #expect(error is DeviceError, "\(error)") }
            }
        }
    }
}
