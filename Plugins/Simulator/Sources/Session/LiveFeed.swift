import GatewayKit
import Vitals

/// What a connected device sends by itself: decides what is due and when to look again. All times are those of the
/// device's clock.
struct LiveFeed: Sendable {
    /// Until when everything was sent.
    private(set) var told: Timestamp
    private var battery: BatteryState?
    private var isWorn: Bool?

    /// How far back records are still sent live, after the machine slept or the clock was set: what is older is read from
    /// the history.
    static let recordCatchUp = Duration.minutes(5)
    /// How far back streamed values are: they are in no history, and nobody wants old ones.
    static let streamCatchUp = Duration.seconds(10)

    /// A feed that begins at a moment.
    init(from moment: Timestamp) { told = moment }

    /// Everything that is due at a moment, in the order of time: samples, then the alerts they raise, then battery and
    /// wear, where they have changed.
    mutating func due(at moment: Timestamp, from device: inout DeviceState) -> [DeviceEvent] {
        var events: [DeviceEvent] = []
        if moment > told {
            let from = max(told, moment - Self.recordCatchUp)
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
        if isFirst || told.milliseconds.floored(by: 60_000) != moment.milliseconds.floored(by: 60_000) {
            events += state(at: moment, &device)
        }
        told = moment
        return events
    }

    /// When to look again: at the next streamed value, or on the next whole minute.
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
        if device.model != .cuff, nowWorn != isWorn {
            isWorn = nowWorn
            events.append(.wear(isWorn: nowWorn))
        }
        return events
    }

    /// The streamed values of a period. Each device has its own place within the interval, so that many devices do not
    /// all speak at the same moment.
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

    /// Puts streamed values between records, without those that are already there as records.
    private func merge(_ streamed: [Sample], into records: [Sample]) -> [Sample] {
        guard !records.isEmpty else { return streamed }
        let fresh = streamed.filter { sample in
            !records.contains { $0.metric == sample.metric && $0.start == sample.start && $0.end == sample.end }
        }
        return (records + fresh).enumerated().sorted { ($0.element.end, $0.offset) < ($1.element.end, $1.offset) }
            .map(\.element)
    }
}
