/// Reads one map of the configuration: each key once, with its type and its range, and collects every mistake with its
/// line instead of stopping at the first. `finish` reports the keys that nobody asked for.
///
/// After a mistake the methods return a harmless stand-in (the default, or the lower bound), so that the reading goes on
/// and finds the next one; what was read is not used then.
public struct ConfigurationReader {
    /// The path of the map, such as `devices[0].transport`; empty at the root.
    public let path: String
    /// The line on which the map begins.
    public let line: Int
    /// The mistakes found so far.
    public private(set) var mistakes: [ConfigurationMistake] = []
    private let members: [String: (line: Int, value: ConfigurationValue)]
    private let order: [String]
    private var known: [String] = []

    /// A reader of a map. A value that is no map is a mistake; `null` is an empty map.
    public init(_ value: ConfigurationValue, path: String = "") {
        self.path = path
        self.line = value.line
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
        default: isMap = false
        }
        self.members = members
        self.order = order
        if !isMap { mistakes.append(.init(line: line, path: path, message: "Keys and values are expected here.")) }
        for key in twice {
            mistakes.append(
                .init(line: key.line, path: join(key.text), message: "The key stands here twice; remove one."))
        }
    }

    /// The value of a key, `nil` where it does not stand or is empty. The key counts as known then.
    public mutating func value(_ key: String) -> ConfigurationValue? {
        if !known.contains(key) { known.append(key) }
        guard let value = members[key]?.value, value.content != .null else { return nil }
        return value
    }

    /// The keys of the map, in the file's order. They do not count as known.
    public var keys: [String] { order }

    /// The line on which a key stands, or the map's own where it does not stand.
    public func line(of key: String) -> Int { members[key]?.line ?? line }

    /// Notes a mistake at a key of this map (or at the map itself).
    public mutating func report(_ message: String, at key: String? = nil) {
        let line = key.map { self.line(of: $0) } ?? line
        mistakes.append(.init(line: line, path: key.map { join($0) } ?? path, message: message))
    }

    /// Takes over the mistakes that a part of this map found.
    public mutating func adopt(_ found: [ConfigurationMistake]) { mistakes += found }

    /// Reports the keys that nobody asked for, and returns all mistakes.
    public mutating func finish() -> [ConfigurationMistake] {
        for key in order where !known.contains(key) {
            let near = known.filter { $0.prefix(3) == key.prefix(3) }.sorted()
            let hint =
                near.isEmpty ? "Known here: \(known.sorted().joined(separator: ", "))." : "Did you mean \(near[0])?"
            report("There is no such key. \(hint)", at: key)
        }
        return mistakes
    }

    func join(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
