import Vitals

/// A record of a device before its value is computed: its time and its content.
struct Record: Sendable {
    /// The source of the value.
    enum Content: Sendable {
        /// A body value at that moment, from the device's schedule or while a clip is on.
        case moment
        /// The steps of a quarter of an hour.
        case steps
        /// A night or a nap.
        case sleep(Night)
        /// The resting heart rate found in a night.
        case rest
        /// A workout.
        case workout(Activity)
        /// A value taken by the person in a user slot: a blood pressure or a weight.
        case measurement(user: Int)
        /// A stored value that was measured on demand.
        case measured(Sample)
    }
    /// The start of the sample.
    var start: Timestamp
    /// The end of the sample, when the record appears.
    var end: Timestamp
    /// The source of its value.
    var content: Content

    /// A record of a moment.
    init(at moment: Timestamp, _ content: Content = .moment) { self.init(from: moment, to: moment, content) }

    /// A record of an interval.
    init(from start: Timestamp, to end: Timestamp, _ content: Content) {
        self.start = start
        self.end = end
        self.content = content
    }
}
