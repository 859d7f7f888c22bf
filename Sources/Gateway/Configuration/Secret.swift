/// A password or a token. It hides itself from descriptions, dumps and logs.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself, for the one place that needs it.
    package let value: String

    /// A secret.
    package init(_ value: String) { self.value = value }

    /// A stand-in for the secret.
    package var description: String { "(secret)" }
    /// A stand-in for the secret.
    package var debugDescription: String { "(secret)" }
    /// Nothing to look at.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
