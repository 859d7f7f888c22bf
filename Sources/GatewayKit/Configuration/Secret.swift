/// A password or a token. Descriptions, dumps and logs do not show it.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself, for the one place that needs it.
    public let value: String

    /// A secret.
    public init(_ value: String) { self.value = value }

    /// A placeholder for the secret.
    public var description: String { "(secret)" }
    /// A placeholder for the secret.
    public var debugDescription: String { "(secret)" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Whether `text` is this secret, in a time that does not depend on how much of it is right.
    public func matches(_ text: some Collection<UInt8>) -> Bool {
        let expected = Array(value.utf8)
        guard !expected.isEmpty else { return false }
        var difference = expected.count ^ text.count
        for (index, byte) in text.enumerated() { difference |= Int(byte ^ expected[index % expected.count]) }
        return difference == 0
    }
}
