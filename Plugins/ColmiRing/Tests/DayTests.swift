import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import ColmiRing

/// Whether a record's time is the true one: with every offset, at midnights, and on the days when local clocks change.
@Suite struct DayTests {
    /// Reads metrics of a ring that was worn since some time before, after the session was open for a while.
    private func history(
        of metric: Metric, offset: Int, start: Timestamp, worn: Duration, open: Duration = .zero
    ) throws -> [Sample] {
        try Simulation.run(seed: 1, start: start, deadline: .days(3)) { simulation in
            let clock = simulation.gatewayClock
            let ring = ScriptedRing(clock: clock, worn: start - worn)
            // It was set right before, so that its memory is of this zone.
            ring.withState { $0.offset = Int64(offset) * 60 }
            let context = SessionContext.testing(try #require(DeviceID("ring")), clock: clock)
            return try await ColmiDriver(ColmiOptions(offset: offset)).withPages(ring, context) { session in
                try await clock.sleep(for: open)
                let request = HistoryRequest(metric: metric, from: start - worn, to: simulation.date + .days(1))
                return try await session.history(request).samples
            }
        }
    }

    /// The true half hours that are over, with their values.
    private static func spots(_ metric: Metric, from: Timestamp, to: Timestamp, slot: Duration) -> [Sample] {
        var samples: [Sample] = []
        var second = (from.milliseconds / 1000 + 1799) / 1800 * 1800
        while Timestamp(seconds: second) + slot <= to {
            var value = Double(RingLogs.value(at: second, worn: from))
            if metric == .skinTemperature {
                value = Double(200 + Int(RingLogs.temperature(at: second, worn: from))) / 10
            }
            samples.append(Sample(metric: metric, start: Timestamp(seconds: second), reading: .value(value)))
            second += 1800
        }
        return samples
    }

    /// The true hours by the ring's clock that are over, with what the ring counts or measures of each.
    private static func hours(_ metric: Metric, offset: Int, from: Timestamp, to: Timestamp) -> [Sample] {
        let zone = Int64(offset) * 60
        let first = (from.milliseconds / 1000 + zone + 3599) / 3600 * 3600 - zone
        return stride(from: first, through: to.milliseconds / 1000 - 3600, by: 3600).map { second in
            let start = Timestamp(seconds: second)
            if metric == .steps {
                let steps = Increment(count: Int(RingLogs.value(at: second, worn: from)), distance: 40, energy: 1.2)
                return Sample(metric: metric, start: start, end: start + .hours(1), reading: .count(steps))
            }
            let least = RingLogs.oxygen(at: second, worn: from)
            return Sample(
                metric: metric, start: start, end: start + .hours(1), kind: least == 99 ? .normal : .minimum,
                reading: .value(Double(least)))
        }
    }

    /// The true samples of a metric that are over.
    private static func samples(_ metric: Metric, offset: Int, from: Timestamp, to: Timestamp) -> [Sample] {
        switch metric {
        case .heartRate: spots(metric, from: from, to: to, slot: .minutes(5))
        case .stress, .skinTemperature: spots(metric, from: from, to: to, slot: .minutes(30))
        default: hours(metric, offset: offset, from: from, to: to)
        }
    }

    private static let metrics: [Metric] = [.heartRate, .stress, .steps, .bloodOxygen, .skinTemperature]
    /// From the date line in the west to that in the east, with one of half an hour.
    private static let offsets = [-720, -300, 0, 60, 330, 840]

    /// 2026-03-29T01:00Z and 2026-10-25T01:00Z are the changes in Europe; 2026-03-08 and 2026-11-01 those in America.
    static let changes = [1_774_746_000, 1_792_890_000, 1_772_953_200, 1_793_512_800].map { Timestamp(seconds: $0) }

    @Test(arguments: changes, offsets)
    func `a day on which local clocks change is a day like others for the ring`(change: Timestamp, offset: Int) throws {
        let now = change + .hours(6)
        for metric in Self.metrics {
            let read = try history(of: metric, offset: offset, start: now, worn: .hours(20))
            #expect(read == Self.samples(metric, offset: offset, from: now - .hours(20), to: now), "\(metric.rawValue)")
        }
    }

    /// Moments before and after the ring's midnight.
    @Test(arguments: [-3600, -11, -5, -1, 0, 1, 5, 30, 3600], offsets)
    func `a record has its true time, whenever it is asked for`(seconds: Int, offset: Int) throws {
        let midnight = RingZone(offset: offset).moment(LocalDay(number: 20_500), minute: 0)
        let now = midnight + .seconds(seconds)
        for metric in Self.metrics {
            let read = try history(of: metric, offset: offset, start: now, worn: .hours(30))
            let expected = Self.samples(metric, offset: offset, from: now - .hours(30), to: now)
            // While it waits for midnight to pass, a slot may end.
            #expect(read.prefix(expected.count) == expected[...], "\(metric.rawValue)")
            #expect(read.count <= expected.count + 1)
            #expect(expected.count >= 28)
        }
    }

    /// The ring's midnight is 2026-02-15T18:30:00Z. Forty minutes before and after it, of a ring that is worn for three hours: where the
    /// first record begins, in seconds from midnight, and the values from there on.
    @Test(
        arguments: [
            (-40, Metric.bloodOxygen, -10_800, 3600, [91, 92]),
            (-40, .skinTemperature, -12_600, 1800, [34.2, 34.3, 34.4, 34.5, 34.6]),
            (40, .bloodOxygen, -7200, 3600, [92, 93]),
            (40, .skinTemperature, -7200, 1800, [34.5, 34.6, 34.7, 34.8, 34.9]),
        ] as [(Int, Metric, Int, Int, [Double])])
    func `a record of today is the same record when its day is yesterday`(
        minutes: Int, metric: Metric, first: Int, pace: Int, values: [Double]
    ) throws {
        let midnight = Timestamp(seconds: 1_771_180_200)
        let read = try history(of: metric, offset: 330, start: midnight + .minutes(minutes), worn: .hours(3))
        let starts = values.indices.map { midnight + .seconds(first + pace * $0) }
        #expect(read.compactMap(\.value) == values)
        #expect(read.map(\.start) == starts)
    }

    @Test func `the messages of the scripted ring have the checksum that others compute`() {
        #expect(RingLogs.checksum(Array(RingMessages.oxygen.dropFirst(6))) == 0x07ba)
        #expect(RingLogs.checksum(Array(RingMessages.temperature.dropFirst(6))) == 0x6787)
    }

    /// The ends of a slot of five minutes, of one of half an hour, and of an hour, each after noon.
    @Test(arguments: [(Metric.heartRate, 5), (.stress, 30), (.steps, 60)])
    func `a slot that ends while the ring answers waits for the next request`(metric: Metric, minutes: Int) throws {
        let noon = Timestamp(seconds: 1_773_144_000)
        let end = noon + .minutes(minutes)
        // The clock is set at a full second, which is what the ring shows of it.
        let (worn, start) = (noon - .hours(3), noon - .minutes(5) + .milliseconds(200))
        try Simulation.run(seed: 1, start: start, deadline: .days(1)) { simulation in
            let clock = simulation.gatewayClock
            let radio = GATTFaults(delay: .milliseconds(400)...(.milliseconds(400)))
            let ring = ScriptedRing(clock: clock, worn: worn, radio: radio)
            let context = SessionContext.testing(try #require(DeviceID("ring")), clock: clock)
            try await ColmiDriver(ColmiOptions()).withPages(ring, context) { session in
                try await clock.sleep(for: end - .milliseconds(600) - clock.now)
                let request = HistoryRequest(metric: metric, from: noon - .hours(2), to: noon + .days(1))
                let during = try await session.history(request).samples
                #expect(clock.now > end)
                #expect(!during.isEmpty && !during.contains { $0.start == noon })
                let after = try await session.history(request).samples
                let late = try #require(after.first { $0.start == noon })
                #expect(late.value == Double(RingLogs.value(at: noon.milliseconds / 1000, worn: worn)))
            }
        }
    }

    @Test func `a night across midnight begins on the evening before, by the ring's clock`() throws {
        // 12:00Z; the captured night is from 22:23 to 09:02.
        let noon = Timestamp(seconds: 1_773_144_000)
        for offset in [0, 60, -300] {
            let read = try history(of: .sleep, offset: offset, start: noon + .hours(5), worn: .days(1))
            let night = try #require(read.first)
            let midnight = Timestamp(seconds: 1_773_100_800) - .minutes(offset)
            #expect(night.start == midnight - .minutes(97))
            #expect(night.end == midnight + .minutes(542))
            #expect(night.isValid)
            guard case .sleep(let sleep) = night.reading else { continue }
            #expect(sleep.stages.last?.end == night.end)
            #expect(sleep.minutes(.awake) == 17 + 12)
        }
    }

    @Test func `a night that is not over waits`() throws {
        // 08:30 by the ring's clock.
        let morning = Timestamp(seconds: 1_773_100_800) + .minutes(510)
        #expect(try history(of: .sleep, offset: 0, start: morning, worn: .days(1)).isEmpty)
    }

    @Test func `what is still to come has no record, though the ring has a value of another day there`() throws {
        var reply = DayLogReply(RingRequest.heartRateLog)
        for packet in RingCaptures.heartRates { _ = reply.collect(.packet(try RingPacket(packet))) }
        // The capture was taken at 22:14:10.
        let decoder = RecordDecoder(zone: RingZone(offset: 0), asked: Timestamp(seconds: 1_730_412_850))
        let day = try #require(LocalDay(year: 2024, month: 10, day: 31))
        let samples = decoder.heartRates(reply, day).samples
        #expect(samples.map(\.value).prefix(3) == [104, 111, 66])
        #expect(samples.first?.start == Timestamp(seconds: 1_730_334_600))
        #expect(samples.last?.start == Timestamp(seconds: 1_730_412_300))
        #expect(samples.count == 3 + 54 + 2)
        // The log of another day is none of this one.
        #expect(decoder.heartRates(reply, day.advanced(by: 1)) == DayRecords(refused: 1))
    }

    @Test func `a clock that was wrong is set before the history is read`() throws {
        let start = Timestamp(seconds: 1_773_144_000)
        try Simulation.run(seed: 1, start: start, deadline: .days(3)) { simulation in
            let clock = simulation.gatewayClock
            let ring = ScriptedRing(clock: clock, worn: start)
            let context = SessionContext.testing(try #require(DeviceID("ring")), clock: clock)
            try await ColmiDriver(ColmiOptions(offset: 0)).withPages(ring, context) { session in
                let request = HistoryRequest(metric: .heartRate, from: start, to: start + .days(2))
                _ = try await session.history(request)
                #expect(ring.withState { $0.clocks } == [start])
                // The gateway's own clock is corrected by a year.
                simulation.jumpDate(by: .days(365))
                _ = try await session.history(request)
                #expect(ring.withState { $0.clocks.last } == simulation.date)
                try await clock.sleep(for: .hours(7))
                _ = try await session.history(request)
                #expect(ring.withState { $0.clocks.count } == 3)
            }
        }
    }
}

extension ColmiDriver {
    /// Opens a session with a ring.
    func withPages<Value: Sendable>(
        _ ring: ScriptedRing, _ context: SessionContext,
        _ body: @escaping @Sendable (any DeviceSession) async throws -> Value
    ) async throws -> Value {
        let result = Mutex<Value?>(nil)
        try await withSession(over: .gatt(ring.peripheral.link), context: context) { session in
            let value = try await body(session)
            result.withLock { $0 = value }
        }
        return try result.withLock { value in
            guard let value else { throw DeviceError(.failure, "The session had no result.") }
            return value
        }
    }
}
