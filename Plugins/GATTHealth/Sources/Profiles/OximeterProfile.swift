import GatewayKit
import Vitals

/// The values of a pulse oximeter: running ones, and single ones that it may have stored.
struct OximeterProfile: Sendable {
    private var clock: RecordClock
    private var isWorn: Bool?

    init(calendar: LocalCalendar) { clock = RecordClock(calendar: calendar) }

    /// The sensor is on no finger.
    private static let notWorn: PLXSensorStatus = [.unconnected, .displaced, .disconnected]
    /// What the sensor gives is no measurement.
    private static let noSignal: PLXSensorStatus = [
        .malfunction, .inadequateSignal, .erraticSignal, .nonpulsatileSignal, .questionablePulse, .sensorMalfunction,
    ]
    /// The value is no measurement of a person, or the device itself doubts it.
    private static let noValue: PLXStatus = [
        .earlyEstimate, .demonstration, .testing, .calibration, .unavailable, .questionable, .invalid,
    ]

    /// The events of a running measurement's value that arrives now. What is no measurement is skipped without a trace: the next
    /// one comes in a second.
    mutating func running(_ bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        let value: PLXContinuous
        do { value = try PLXContinuous(bytes) } catch {
            return [.unreadable(UnreadableSample(.bloodOxygen, "a blood oxygen: \(error.problem)"))]
        }
        var events: [DeviceEvent] = []
        if let sensor = value.sensor {
            let worn = sensor.isDisjoint(with: Self.notWorn)
            if worn != isWorn { events.append(.wear(isWorn: worn)) }
            isWorn = worn
        }
        guard Self.problem(value.status, value.sensor) == nil else { return events }
        let samples = Self.samples(value.normal, at: now, isUserInitiated: false)
        return samples.isEmpty ? events : events + [.samples(samples, receipts: [])]
    }

    /// The events of a single measurement's value that arrives now.
    mutating func spotCheck(_ bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        switch record(bytes, arrivedAt: now) {
        case .samples(let samples): [.samples(samples, receipts: [])]
        case .refused(let sample): [.unreadable(sample)]
        case .none: []
        }
    }

    /// The samples of a single measurement. `now` is when it arrived as the first one to know of it; `nil` for a stored one.
    mutating func record(_ bytes: [UInt8], arrivedAt now: Timestamp?) -> StoredRecord {
        var start: Timestamp?
        do throws(FormatError) {
            let value = try PLXSpotCheck(bytes)
            if value.isClockUnset, now == nil { throw FormatError("the device's clock was not set") }
            let time = value.isClockUnset ? nil : value.time
            if let now {
                start = try clock.moment(time, at: now)
            } else if let time {
                start = try clock.moment(time)
            }
            guard let start else { throw FormatError("it is stored without a time") }
            if let problem = Self.problem(value.status, value.sensor) { throw FormatError(problem) }
            let samples = Self.samples(value.pair, at: start, isUserInitiated: true)
            guard samples.contains(where: { $0.metric == .bloodOxygen }) else {
                throw FormatError("the oximeter could not measure it")
            }
            return .samples(samples)
        } catch {
            return .refused(UnreadableSample(.bloodOxygen, at: start, "a blood oxygen: \(error.problem)"))
        }
    }

    private static func problem(_ status: PLXStatus?, _ sensor: PLXSensorStatus?) -> String? {
        if let status, !status.isDisjoint(with: noValue) { return "the oximeter says that it is no valid value" }
        guard let sensor else { return nil }
        if !sensor.isDisjoint(with: notWorn) { return "the sensor was not on a finger" }
        return sensor.isDisjoint(with: noSignal) ? nil : "the sensor had no good signal"
    }

    private static func samples(_ pair: OximeterPair, at start: Timestamp, isUserInitiated: Bool) -> [Sample] {
        [(Metric.bloodOxygen, pair.saturation), (.heartRate, pair.pulse)].compactMap { metric, number in
            // 0 is what an oximeter sends while it has found no pulse.
            guard let value = number.number, value > 0 else { return nil }
            return Sample(metric: metric, start: start, isUserInitiated: isUserInitiated, reading: .value(value))
        }
    }
}
