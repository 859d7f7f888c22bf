import Vitals

/// A record of a device before its value is computed: when it was taken, and what it is about.
struct Record: Sendable {
    /// Where the value comes from.
    enum Content: Sendable {
        /// The body at that moment, by the device's schedule or while a clip is on.
        case moment
        /// The steps of a quarter of an hour.
        case steps
        /// A night or a nap.
        case sleep(Night)
        /// The resting heart rate found in a night.
        case rest
        /// A workout.
        case workout(Activity)
        /// A blood pressure that the person in a user slot took.
        case pressure(user: Int)
        /// A value that was measured on demand and is kept as it was.
        case measured(Sample)
    }
    /// The start that the sample will have.
    var start: Timestamp
    /// Its end, which is when the record appears.
    var end: Timestamp
    /// What it is about.
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
