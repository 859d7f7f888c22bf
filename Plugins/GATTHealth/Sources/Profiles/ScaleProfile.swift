import GatewayKit
import Vitals

/// The values of a scale. It sends what it stored as soon as it is subscribed to.
struct ScaleProfile: Sendable {
    private var clock: RecordClock
    private let user: Int?

    /// - Parameter user: the only user slot whose values count; `nil` for all.
    init(calendar: LocalCalendar, user: Int?) {
        clock = RecordClock(calendar: calendar)
        self.user = user
    }

    /// The events of a value that arrives now.
    mutating func events(of bytes: [UInt8], at now: Timestamp) -> [DeviceEvent] {
        var start: Timestamp?
        do throws(FormatError) {
            let value = try WeightMeasurement(bytes)
            if let user, let slot = value.user, slot != user { return [] }
            let moment = try clock.moment(value.time, at: now)
            start = moment
            guard let weight = value.kilograms else { throw FormatError("the scale could not measure it") }
            let sample = Sample(
                metric: .weight, start: moment, isUserInitiated: true, user: value.user, reading: .value(weight))
            return [.samples([sample], receipts: [])]
        } catch {
            return [.unreadable(UnreadableSample(.weight, at: start, "a weight: \(error.problem)"))]
        }
    }
}
