/// A password or a token. Descriptions, dumps and logs do not show it.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself, for the one place that needs it.
    package let value: String

    /// A secret.
    package init(_ value: String) { self.value = value }

    /// A placeholder for the secret.
    package var description: String { "(secret)" }
    /// A placeholder for the secret.
    package var debugDescription: String { "(secret)" }
    /// An empty mirror.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
