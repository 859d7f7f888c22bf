import GatewayKit
import Vitals

/// The time of a record that a device stamped with its own clock, which has no zone.
struct RecordClock: Sendable {
    /// The zone in which the device's clock is read: the configured one, in which the gateway also sets it.
    let calendar: LocalCalendar
    /// Within this time, a second record without a time is one that the device stored: a measurement takes longer.
    static let quickest: Duration = .seconds(10)
    /// When the last record without a time came.
    private var lastUntimed: Timestamp?

    init(calendar: LocalCalendar) { self.calendar = calendar }

    /// When a record was measured that has this time, and arrives now.
    ///
    /// A record without a time counts as measured now: a device that stores records must stamp them. A time that cannot be, and a
    /// second record without one, have no time that would be true.
    /// - Throws: why there is no time.
    mutating func moment(_ time: DateTime?, at now: Timestamp) throws(FormatError) -> Timestamp {
        guard let time else {
            defer { lastUntimed = now }
            if let lastUntimed, now - lastUntimed < Self.quickest {
                throw FormatError("it has no time, and is an older one of several")
            }
            return now
        }
        return try moment(time)
    }

    /// When a device's clock showed this time.
    /// - Throws: why there is no time.
    func moment(_ time: DateTime) throws(FormatError) -> Timestamp {
        guard let moment = time.moment(in: calendar) else {
            throw FormatError("the device's clock was not set")
        }
        return moment
    }
}

extension UnreadableSample {
    /// A sample of a device that cannot be read.
    init(_ metric: Metric, at start: Timestamp? = nil, _ problem: String) {
        self.init(metric: metric, start: start, problem: problem)
    }
}
