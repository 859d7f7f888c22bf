import GatewayKit
import Vitals

/// The records of a cuff. It sends those that it stored as soon as it is subscribed to, and the new ones when they are measured.
struct BloodPressureProfile: Sendable {
    /// 1 kPa in mmHg.
    static let mmHgPerKilopascal = 7.500616827

    private var clock: RecordClock
    private let user: Int?

    /// - Parameter user: the only user slot whose records count; `nil` for all.
    init(calendar: LocalCalendar, user: Int?) {
        clock = RecordClock(calendar: calendar)
        self.user = user
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        var start: Timestamp?
        do throws(FormatError) {
            let record = try BloodPressureMeasurement(bytes)
            if let user, let slot = record.user, slot != user { return [] }
            start = try clock.moment(record.time, at: now)
            return [.samples([try Self.sample(record, at: start ?? now)], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.bloodPressure, at: start, "a blood pressure: \(error.problem)"))]
        }
    }

    /// - Throws: why it is no blood pressure of a person at rest. An irregular pulse is none of the reasons: it is true.
    private static func sample(
        _ record: BloodPressureMeasurement, at start: Timestamp
    ) throws(FormatError) -> Sample {
        let status = record.status ?? []
        if status.contains(.bodyMoved) { throw FormatError("the body moved") }
        if status.contains(.cuffTooLoose) { throw FormatError("the cuff was too loose") }
        if status.contains(.improperPosition) { throw FormatError("the cuff was not at the height of the heart") }
        guard let systolic = record.systolic.number, let diastolic = record.diastolic.number else {
            throw FormatError("the cuff could not measure it")
        }
        func pressure(_ number: Double) -> Double {
            record.isKilopascal ? (number * mmHgPerKilopascal * 10).rounded() / 10 : number
        }
        let isPulseKnown = status.isDisjoint(with: [.pulseAboveRange, .pulseBelowRange])
        let pulse = isPulseKnown ? record.pulse?.number : nil
        return Sample(
            metric: .bloodPressure, start: start, isUserInitiated: true, user: record.user,
            reading: .bloodPressure(
                BloodPressure(systolic: pressure(systolic), diastolic: pressure(diastolic), pulse: pulse)))
    }
}
