/// The gateway itself.
struct GatewayPage: Hashable, Sendable {
    var frame: Frame
    var condition: Notice
    /// The parts, plugins and devices that are asked whether they go on: since when one has not answered.
    var parts: [Row]
    var lanes: [LaneRow]
    /// What was lost since the store was made: "12 messages of history waited too long".
    var dropped: [String]
    /// The broker's connection; the store and the disk; the program, its clock and plugins; Home Assistant.
    var panels: [FigurePanel]
    var doctor: DoctorPanel
    /// The newest lines, the last one first.
    var log: [LogRow]
}

/// Figures under a heading.
struct FigurePanel: Hashable, Sendable {
    /// `gateway.broker` and the like.
    var key: String
    var heading: String
    var figures: [Figure]
}

/// A lane of the outbox.
struct LaneRow: Hashable, Sendable {
    var label: String
    var waiting: String
    var sent: String
    var acknowledged: String
}

/// What `doctor` says.
struct DoctorPanel: Hashable, Sendable {
    /// When it was asked; `nil` before the first time.
    var asked: Moment?
    var isRunning: Bool
    var findings: [Row]
}

/// A line of the log.
struct LogRow: Hashable, Sendable {
    var time: Moment
    var mark: Mark
    var text: String
    /// `device=ring-1 attempts=3`
    var details: String?
}
