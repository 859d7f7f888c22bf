/// The id of a device or gateway in topics and in the configuration: 1 to 64 of `a-z`, `0-9`, `_`, `-`.
///
/// It is stable and reveals nothing about a person. `gateway` is reserved for the gateway itself.
public struct DeviceID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The id as text.
    public let text: String

    /// Maximum length of an id, in characters.
    public static let maximumLength = 64
    /// The one id that a device cannot have: the gateway's own place in the topic tree.
    public static let reserved = "gateway"

    /// The id with this text; `nil` if the text is not a valid id.
    public init?(_ text: String) {
        let isValid = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isValid, (1...Self.maximumLength).contains(text.utf8.count), text != Self.reserved else { return nil }
        self.text = text
    }

    /// The text for a person.
    public var description: String { text }

    /// Orders by text, ascending.
    public static func < (a: DeviceID, b: DeviceID) -> Bool { a.text < b.text }
}
