import GatewayKit
import Vitals

@testable import GATTHealth

/// What must hold for the readers of characteristics, for any bytes. The fuzzer checks it with endless inputs, the tests with those that
/// once failed, and with changed ones.
enum CharacteristicInput {
    /// What is wrong after these bytes: the first one chooses the characteristic, the rest is its value. A trap is an error of its own.
    static func issues(in bytes: [UInt8]) -> [String] {
        guard let choice = bytes.first, let calendar = LocalCalendar(identifier: "Europe/Berlin") else { return [] }
        let value = Array(bytes.dropFirst())
        let now = Timestamp(seconds: 1_768_035_600)
        var heartRate = HeartRateProfile(hasVariability: true)
        var cuff = BloodPressureProfile(calendar: calendar, user: choice & 0x10 == 0 ? nil : 1)
        var oximeter = OximeterProfile(calendar: calendar)
        var thermometer = ThermometerProfile(calendar: calendar, site: .armpit, isAutomatic: choice & 0x10 == 0)
        var scale = ScaleProfile(calendar: calendar, user: nil)
        switch choice & 0x0f {
        case 0:
            // The same value for a while, so that windows of the variability end.
            return (0..<400).flatMap { check(heartRate.events(of: value, at: now + .seconds($0)), .heartRate) }
        case 1: return check(cuff.events(of: value, at: now), .bloodPressure)
        case 2: return check(oximeter.running(value, at: now), .bloodOxygen)
        case 3:
            return check(oximeter.spotCheck(value, at: now), .bloodOxygen)
                + check(oximeter.record(value, arrivedAt: nil))
        case 4: return check(thermometer.events(of: value, at: now), .temperature)
        case 5: return check(scale.events(of: value, at: now), .weight)
        case 6: return glucose(value, calendar)
        case 7: return clock(value, calendar)
        case 8: return access(value)
        case 10:
            var scale = CompositionProfile(calendar: calendar, user: choice & 0x10 == 0 ? nil : 1)
            // The second half as what follows: it may be the second packet.
            let half = value.count / 2
            return check(scale.events(of: value, at: now), .bodyFat)
                + check(scale.events(of: Array(value.dropFirst(half)), at: now + .seconds(1)), .bodyFat)
        default: return check(HealthProfiles.battery(value), .battery)
        }
    }

    private static func glucose(_ value: [UInt8], _ calendar: LocalCalendar) -> [String] {
        // A record and its context share the bytes.
        let half = value.count / 2
        guard let record = try? GlucoseMeasurement(Array(value.prefix(half))) else { return [] }
        let context = try? GlucoseContext(Array(value.dropFirst(half)))
        return check(GlucoseProfile(calendar: calendar).record(record, context))
    }

    private static func clock(_ value: [UInt8], _ calendar: LocalCalendar) -> [String] {
        guard let time = try? CurrentTime(value), let moment = time.dateTime.moment(offset: 60) else { return [] }
        _ = time.dateTime.moment(in: calendar)
        // What is read is written again, but for why it was set, and the day of the week, which may be wrong.
        let written = CurrentTime(moment, offset: 60).bytes
        return Array(written.prefix(7)) == Array(value.prefix(7)) ? [] : ["\(value) is written as \(written)"]
    }

    private static func access(_ value: [UInt8]) -> [String] {
        guard let response = try? RecordAccess.Response(value) else { return [] }
        switch response {
        case .count(let count): return count == Int(value[2]) | Int(value[3]) << 8 ? [] : ["\(value) counts \(count)"]
        case .done(let operation, let outcome):
            return [operation, outcome.code] == Array(value[2...3]) ? [] : ["\(value) is \(response)"]
        }
    }

    private static func check(_ record: StoredRecord) -> [String] {
        guard case .samples(let samples) = record else { return [] }
        return check([.samples(samples, receipts: [])], nil)
    }

    /// A sample may be impossible: the gateway refuses it. Its number must be one, and its time that of a calendar.
    private static func check(_ events: [DeviceEvent], _ metric: Metric?) -> [String] {
        events.flatMap { event -> [String] in
            guard case .samples(let samples, _) = event else { return [] }
            return samples.flatMap { sample -> [String] in
                var issues: [String] = []
                if !SampleLimits.moments.contains(sample.start), sample.start < Timestamp(seconds: 0) {
                    issues.append("\(sample) is before 1970")
                }
                if let value = sample.value, !value.isFinite { issues.append("\(sample) has no number") }
                if sample.isValid != sample.violations.isEmpty { issues.append("\(sample) is and is not valid") }
                if sample.metric == .heartRateVariability, (sample.value ?? -1) < 0 {
                    issues.append("\(sample) is negative")
                }
                return issues
            }
        }
    }
}
