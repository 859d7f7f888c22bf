import Foundation

/// Reads one map of the configuration, each key with its type and range. It collects every issue with its line
/// instead of stopping at the first; `finish` also reports the keys that were never read.
///
/// After an issue the methods return a harmless stand-in (the default, or the lower bound), so that reading continues
/// and finds further issues. Callers discard the result if there are any.
public struct ConfigurationReader {
    /// The path of the map, such as `devices[0].transport`; empty at the root.
    public let path: String
    /// The line on which the map begins.
    public let line: Int
    /// Where the configuration is.
    public let place: ConfigurationPlace
    /// The issues found so far.
    public private(set) var issues: [ConfigurationIssue] = []
    /// Allowed but probably unintended settings, found so far.
    public private(set) var warnings: [ConfigurationIssue] = []
    /// The content of the files and variables that were read so far, so that a change of one is detected although the
    /// configuration has only its name.
    package internal(set) var contents: [Secret] = []
    /// The tokens with which a device says that it is the one, read so far.
    package internal(set) var tokens: [Secret] = []
    /// Whether the keys are only described: there is no configuration, and each key is read, also those that exclude each
    /// other.
    public let isDescribing: Bool
    /// The keys that were read, while `isDescribing`.
    public internal(set) var descriptions: [KeyDescription] = []
    private let members: [String: (line: Int, value: ConfigurationValue)]
    private let order: [String]
    private var known: [String] = []
    /// The keys whose values are maps themselves.
    var mapKeys: Set<String> = []
    /// The word that stands in place of the map.
    private var word: String?

    /// Creates a reader of a map. A value that is not a map is an issue; `null` is an empty map.
    public init(_ value: ConfigurationValue, path: String = "", place: ConfigurationPlace = ConfigurationPlace()) {
        self.init(value, path: path, place: place, isDescribing: false)
    }

    /// Creates a reader that describes the keys that are read.
    public init(describing path: String) {
        self.init(ConfigurationValue(.null), path: path, place: ConfigurationPlace(), isDescribing: true)
    }

    init(_ value: ConfigurationValue, path: String, place: ConfigurationPlace, isDescribing: Bool) {
        self.path = path
        self.place = place
        self.line = value.line
        self.isDescribing = isDescribing
        var members: [String: (line: Int, value: ConfigurationValue)] = [:]
        var order: [String] = []
        var twice: [ConfigurationKey] = []
        var isMap = true
        switch value.content {
        case .map(let pairs):
            for (key, value) in pairs {
                if members[key.text] != nil {
                    twice.append(key)
                } else {
                    members[key.text] = (key.line, value)
                    order.append(key.text)
                }
            }
        case .null: break
        case .scalar(let text, _):
            isMap = false
            word = text
        case .list: isMap = false
        }
        self.members = members
        self.order = order
        if !isMap { issues.append(issue(line, path, "Keys and values are expected here.")) }
        for key in twice {
            issues.append(issue(key.line, join(key.text), "The key occurs here twice; remove one."))
        }
    }

    private func issue(_ line: Int, _ path: String, _ message: String) -> ConfigurationIssue {
        var issue = ConfigurationIssue(line: line, path: path, message: message)
        issue.file = place.part
        return issue
    }

    /// The value of a key, `nil` if it is absent or empty. Marks the key as known.
    public mutating func value(_ key: String) -> ConfigurationValue? {
        if !known.contains(key) {
            known.append(key)
            if !descriptions.contains(where: { $0.path == join(key) }) { describe(key, "value") }
        }
        guard let value = members[key]?.value, value.content != .null else { return nil }
        return value
    }

    /// Whether a key is there, so that what it needs is read. Marks the key as known.
    public mutating func has(_ key: String) -> Bool { value(key) != nil || isDescribing }

    /// The keys of the map, in the file's order. Reading them does not mark them as known.
    public var keys: [String] { order }

    /// The line of a key, or the map's own line if the key is absent.
    public func line(of key: String) -> Int { members[key]?.line ?? line }

    /// Records an issue at a key of this map (or at the map itself).
    public mutating func report(_ message: String, at key: String? = nil) {
        let line = key.map { self.line(of: $0) } ?? line
        issues.append(issue(line, key.map { join($0) } ?? path, message))
    }

    /// Records an allowed but probably unintended setting.
    public mutating func warn(_ message: String, at key: String) {
        warnings.append(issue(line(of: key), join(key), message))
    }

    /// Adds the issues found in a part of this map.
    public mutating func adopt(_ found: [ConfigurationIssue]) { issues += found }

    /// Adds the allowed but probably unintended settings found in a part of this map.
    package mutating func adopt(warnings found: [ConfigurationIssue]) { warnings += found }

    /// Ends the reading of a part of this map, or of what belongs to it in another file, and adds what was found in it.
    package mutating func adopt(_ part: inout ConfigurationReader) {
        issues += part.finish()
        warnings += part.warnings
        contents += part.contents
        tokens += part.tokens
        for found in part.descriptions { add(found) }
    }

    /// Reports the keys that were never read, and returns all issues.
    public mutating func finish() -> [ConfigurationIssue] {
        if let word, let key = known.first(where: { !mapKeys.contains($0) }), Self.isExample(word), !path.isEmpty,
            path.last != "]"
        {
            // Its keys are missing, too, but that follows.
            issues = [issue(line, path, "Keys and values are expected here, such as {\(key): \(word)}.")]
        }
        for key in order where !known.contains(key) {
            let hint = Spelling.hint(for: key, in: known)
            let others = known.isEmpty ? "It has none." : "Known here: \(known.sorted().joined(separator: ", "))."
            report("There is no such key. \(hint ?? others)", at: key)
            if hint == nil { issues[issues.count - 1].strangeKey = key }
        }
        return issues
    }

    /// Whether a word can stand behind a key as it is, and is no truth: that belongs to no certain key.
    private static func isExample(_ word: String) -> Bool {
        !word.isEmpty && word.count <= Spelling.maximumLength && !["true", "yes", "on"].contains(word.lowercased())
            && word.allSatisfy { $0.isLetter || $0.isNumber || "._:/-".contains($0) } && word.last != ":"
    }

    func join(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}

/// Where a configuration is: what its paths and its secrets refer to.
public struct ConfigurationPlace: Sendable {
    /// The folder of the configuration file, the base of relative paths.
    public var directory: String
    /// The environment, for secrets.
    public var environment: [String: String]
    /// The configuration file, for messages; `nil` for a text.
    package var file: String?
    /// The file beside the configuration file in which a map stands, such as one of `devices_from`; `nil` in the configuration file.
    package var part: String?

    /// A place; by default the working folder, with an empty environment.
    public init(directory: String = ".", environment: [String: String] = [:]) {
        self.directory = directory
        self.environment = environment
    }

    /// A path of the configuration as one from the root or from the working folder. `~` is not expanded.
    public func path(_ text: String) -> String {
        text.hasPrefix("/") ? text : URL(filePath: directory).appending(path: text).standardizedFileURL.path
    }

    /// Where container engines mount secrets. Their modes are often open, and the container has no other user.
    private static let mountedSecrets = "/run/secrets/"

    /// Whether systemd or a container engine keeps the file for this service only. The file may then look readable for a
    /// group, because an access control list grants access.
    func isCredential(_ path: String) -> Bool {
        if path.hasPrefix(Self.mountedSecrets) { return true }
        guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else { return false }
        return path.hasPrefix(directory + "/")
    }
}
