/// A finding of `vitals2mqtt doctor` about one thing that the gateway needs.
public struct Finding: Sendable, Hashable {
    /// What it means for the gateway.
    public enum Severity: String, Sendable, Hashable {
        /// Nothing has to be done.
        case fine = "ok"
        /// The gateway runs, and something should be done.
        case warning = "warn"
        /// Something does not work.
        case problem = "FAIL"
    }
    /// What it means.
    public var severity: Severity
    /// What was checked: a word or two, such as `broker`.
    public var subject: String
    /// What was found and, unless it is fine, what to do: sentences for a person, without secrets.
    public var text: String

    /// A finding.
    public init(_ severity: Severity, _ subject: String, _ text: String) {
        self.severity = severity
        self.subject = subject
        self.text = text
    }
}
