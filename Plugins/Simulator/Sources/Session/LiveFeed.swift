import GatewayKit
import Vitals

/// The live values of a connected device: decides what is due, and when to check again. All times are of the device's
/// clock.
struct LiveFeed: Sendable {
    /// The moment up to which everything was sent.
    private(set) var reported: Timestamp
    private var battery: BatteryState?
    private var isWorn: Bool?

    /// How far back records are still sent live, after the machine slept or the clock was set. Older ones are read from
    /// the history.
    static let recordCatchUp = Duration.minutes(5)
    /// How far back streamed values are sent: no history has them, and old ones are of no use.
    static let streamCatchUp = Duration.seconds(10)

    /// A feed that starts at a moment.
    init(from moment: Timestamp) { reported = moment }

    /// Everything that is due at a moment, in order of time: samples, then their alerts, then battery and wear if they
    /// changed.
    mutating func due(at moment: Timestamp, from device: inout DeviceState) -> [DeviceEvent] {
        var events: [DeviceEvent] = []
        if moment > reported {
            let from = max(reported, moment - Self.recordCatchUp)
            var samples: [Sample] = []
            // Records end on whole minutes.
            if from.milliseconds.floored(by: 60_000) != moment.milliseconds.floored(by: 60_000) {
                samples = device.records(endingAfter: from, through: moment)
            }
            samples = merge(stream(after: from, through: moment, &device), into: samples)
            let readable = samples.filter { !device.isCorrupt($0) }
            if !readable.isEmpty { events.append(.samples(readable, receipts: [])) }
            for _ in readable.count..<samples.count { events.append(.malformed("a record that cannot be read")) }
            for sample in readable {
                events += device.alerts.check(sample, settings: device.settings).map { .alert($0) }
            }
        }
        let isFirst = battery == nil
        if isFirst || reported.milliseconds.floored(by: 60_000) != moment.milliseconds.floored(by: 60_000) {
            events += state(at: moment, &device)
        }
        reported = moment
        return events
    }

    /// When to check again: at the next streamed value, or on the next whole minute.
    func next(after moment: Timestamp, _ device: inout DeviceState) -> Timestamp {
        let minute = Timestamp(milliseconds: (moment.milliseconds.floored(by: 60_000) + 1) * 60_000)
        guard let interval = device.options.liveInterval, !device.model.streams.isEmpty else { return minute }
        let tick = tick(after: moment, interval: interval, device)
        return tick < minute && device.isWorn(at: tick) ? tick : minute
    }

    private mutating func state(at moment: Timestamp, _ device: inout DeviceState) -> [DeviceEvent] {
        var events: [DeviceEvent] = []
        let newBattery = device.battery(at: moment)
        if newBattery != battery {
            battery = newBattery
            events.append(.battery(percent: newBattery.percent, isCharging: newBattery.isCharging))
        }
        let nowWorn = device.isWorn(at: moment)
        if device.model.isWearable, nowWorn != isWorn {
            isWorn = nowWorn
            events.append(.wear(isWorn: nowWorn))
        }
        return events
    }

    /// The streamed values of a period. Each device has its own phase within the interval, so that many devices do not
    /// send at the same moment.
    private func stream(
        after from: Timestamp, through moment: Timestamp, _ device: inout DeviceState
    ) -> [Sample] {
        guard let interval = device.options.liveInterval, !device.model.streams.isEmpty else { return [] }
        var samples: [Sample] = []
        var tick = tick(after: max(from, moment - Self.streamCatchUp), interval: interval, device)
        while tick <= moment {
            if device.isWorn(at: tick) {
                for metric in device.model.streams {
                    let isUserInitiated = device.model == .oximeter
                    if let sample = device.spot(of: metric, at: tick, isUserInitiated: isUserInitiated) {
                        samples.append(sample)
                    }
                }
            }
            tick = tick + interval
        }
        return samples
    }

    private func tick(after moment: Timestamp, interval: Duration, _ device: DeviceState) -> Timestamp {
        let length = interval.inMilliseconds
        let phase = Int64(device.wearing.noise.unit(.streamPhase) * Double(length))
        return Timestamp(milliseconds: ((moment.milliseconds - phase).floored(by: length) + 1) * length + phase)
    }

    /// Merges streamed values with records, without those that are also records.
    private func merge(_ streamed: [Sample], into records: [Sample]) -> [Sample] {
        guard !records.isEmpty else { return streamed }
        let fresh = streamed.filter { sample in
            !records.contains { $0.metric == sample.metric && $0.start == sample.start && $0.end == sample.end }
        }
        return (records + fresh).enumerated().sorted { ($0.element.end, $0.offset) < ($1.element.end, $1.offset) }
            .map(\.element)
    }
}
