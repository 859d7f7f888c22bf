/// What a user can write at one key of the configuration.
public struct KeyDescription: Sendable, Hashable {
    /// The key's path, such as `mqtt.tls.ca_file`; `[]` stands for any place of a list.
    public var path: String
    /// The kind of its value, with the range or the choices.
    public var kind: String
    /// What a missing key means: a value in the notation of the configuration, or `none` or `required`.
    public var `default`: String
    /// What the key is for, in one sentence; may be empty.
    public var about: String

    /// The default of a key that may be left out and then does nothing.
    public static let none = "none"
    /// The default of a key that must be there.
    public static let required = "required"
}

extension ConfigurationReader {
    /// Describes a key for `vitals2mqtt config-reference`. The methods that read a value call it; a driver does so only for a key
    /// whose value it reads itself, after reading it. The last description of a key counts.
    public mutating func describe(
        _ key: String, _ kind: @autoclosure () -> String, default: @autoclosure () -> String = KeyDescription.none,
        about: @autoclosure () -> String = ""
    ) {
        guard isDescribing else { return }
        add(KeyDescription(path: join(key), kind: kind(), default: `default`(), about: about()))
    }

    /// Adds a description in place of an earlier one of the same key.
    mutating func add(_ description: KeyDescription) {
        if let index = descriptions.firstIndex(where: { $0.path == description.path }) {
            descriptions[index] = description
        } else {
            descriptions.append(description)
        }
    }
}
