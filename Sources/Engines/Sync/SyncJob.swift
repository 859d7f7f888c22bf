package import Vitals

/// A synchronisation that somebody wants.
package struct SyncJob: Sendable, Hashable {
    /// What it is called in `sync`: `connect`, `schedule`, or a command's id.
    package var name: String
    /// The metrics, in this order.
    package var metrics: [Metric]
    /// The range; from the cursor, and until now, where `nil`.
    package var from: Timestamp?
    package var to: Timestamp?
    /// The commands that it answers.
    package var commands: [String]

    package init(
        name: String, metrics: [Metric], from: Timestamp? = nil, to: Timestamp? = nil, commands: [String] = []
    ) {
        self.name = name
        self.metrics = metrics
        self.from = from
        self.to = to
        self.commands = commands
    }
}
