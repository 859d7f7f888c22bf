/// A plot of one metric, as `Plots` draws it in both layouts, of which the style sheet shows one.
struct Plot: Hashable, Sendable {
    /// An identifier of the element, such as `plot-heart_rate`.
    var anchor: String
    var label: String
    var unit: String?
    /// The same metric alone, with its table.
    var link: String
    var narrowSVG: String
    var wideSVG: String
    /// What else there is to say, such as that not all values are drawn.
    var note: String?
    /// The drawn values; `nil` in an overview of several plots.
    var listing: Table?
}

/// A table of texts.
struct Table: Hashable, Sendable {
    var caption: String
    var columns: [String]
    var rows: [TableRow]
}

/// A row of a table: what it is about, and its cells.
struct TableRow: Hashable, Sendable {
    var head: String
    /// Where it leads; `nil` for nowhere.
    var target: String?
    var cells: [String]
}

/// A night.
struct Night: Hashable, Sendable {
    /// `Fri 27 to Sat 28 Nov`
    var label: String
    /// The page of the night.
    var link: String
    /// `7 h 42 min`
    var asleep: String
    var began: Moment
    var ended: Moment
    /// The hypnogram, in both layouts.
    var narrowSVG: String
    var wideSVG: String
    /// "2 naps", "corrected".
    var remark: String?
}

/// A workout.
struct Workout: Hashable, Sendable {
    var label: String
    var began: Moment
    /// `42 min`
    var duration: String
    /// Distance, energy, mean and greatest heart rate.
    var figures: [Figure]
    /// The time in zones, in both layouts; `nil` without heart rates.
    var zones: Zones?
}

/// A workout's time in heart rate zones.
struct Zones: Hashable, Sendable {
    var narrowSVG: String
    var wideSVG: String
}
