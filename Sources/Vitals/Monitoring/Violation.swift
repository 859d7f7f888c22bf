/// One error in a configuration or a command's arguments.
public struct Violation: Sendable, Hashable {
    /// The field's path, such as `heart_rate.resting_alert.upper`. A rule about two fields names the second.
    public var path: String
    /// The kind of error. `invalid`: the value breaks a rule. `unsupported`: the device cannot do it.
    public var code: Code
    /// What is wrong and what would be right, as text for people.
    public var message: String

    /// The kinds of error. The raw value is the name on the wire.
    public enum Code: String, Sendable, Hashable { case invalid, unsupported }

    /// An error at `path`.
    public init(path: String, code: Code = .invalid, message: String) {
        self.path = path
        self.code = code
        self.message = message
    }
}
