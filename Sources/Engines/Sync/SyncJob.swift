package import Vitals

/// A requested synchronisation.
package struct SyncJob: Sendable, Hashable {
    /// Its name in `sync`: `connect`, `schedule`, or a command's id.
    package var name: String
    /// The metrics, in order.
    package var metrics: [Metric]
    /// The range. `nil` means from the cursor, and until now.
    package var from: Timestamp?
    package var to: Timestamp?
    /// Keys of the commands that it answers.
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
