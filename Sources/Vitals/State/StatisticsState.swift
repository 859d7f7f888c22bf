/// The state of the import of statistics into Home Assistant.
package struct StatisticsState: Sendable, Hashable {
    /// What it does. The raw value is its name on the wire.
    package enum Activity: String, CaseIterable, Sendable, Hashable {
        /// Nothing is pending, or its hours are not old enough yet.
        case idle
        /// Hours are being imported.
        case importing
        /// Home Assistant does not answer; it is tried again.
        case offline
        /// Home Assistant refused; see `problem`.
        case refused
    }
    package var activity: Activity
    /// Number of series with pending hours.
    package var due: Int
    /// When the last import of a series was complete.
    package var importedAt: Timestamp?
    /// What a person has to do something about; `nil` for nothing.
    package var problem: String?

    package init(activity: Activity, due: Int = 0, importedAt: Timestamp? = nil, problem: String? = nil) {
        self.activity = activity
        self.due = due
        self.importedAt = importedAt
        self.problem = problem
    }
}
