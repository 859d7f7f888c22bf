extension ConfigurationReader {
    /// A duration within `range`, or `nil` for the word that means "without end" (such as `forever` or `all`); the
    /// default if the key is absent.
    public mutating func duration(
        _ key: String, in range: ClosedRange<Duration>, orWord word: String, default: Duration?, about: String = ""
    ) -> Duration? {
        describe(
            key, "\(Self.kind(range)), or \(word)", default: `default`?.configurationText ?? word, about: about)
        guard let value = value(key) else { return `default` }
        guard case .scalar(let text, _) = value.content else {
            report("A duration such as 30d, or \(word), is needed here.", at: key)
            return `default`
        }
        if text == word { return nil }
        guard let duration = Duration(configuration: text), range.contains(duration) else {
            let (lower, upper) = (range.lowerBound.configurationText, range.upperBound.configurationText)
            report("A duration from \(lower) to \(upper), or \(word), is needed here.", at: key)
            return `default`
        }
        return duration
    }

    /// A number of bytes such as `512MiB` or `1GiB` within `range`; the default if the key is absent.
    public mutating func bytes(
        _ key: String, in range: ClosedRange<Int64>, default: Int64, about: String = ""
    ) -> Int64 {
        describe(key, Self.kind(range), default: "\(ByteSize(bytes: `default`))", about: about)
        guard let value = value(key) else { return `default` }
        guard case .scalar(let text, _) = value.content, let size = ByteSize(configuration: text) else {
            report("A size is needed here: a whole number and KiB, MiB, GiB or TiB, such as 512MiB.", at: key)
            return `default`
        }
        guard range.contains(size.bytes) else {
            let (lower, upper) = (ByteSize(bytes: range.lowerBound), ByteSize(bytes: range.upperBound))
            report("A size from \(lower) to \(upper) is needed here.", at: key)
            return `default`
        }
        return size.bytes
    }

    /// A number of bytes within `range`, or `nil` if the key is absent.
    public mutating func optionalBytes(_ key: String, in range: ClosedRange<Int64>, about: String = "") -> Int64? {
        describe(key, Self.kind(range), about: about)
        return value(key) == nil ? nil : bytes(key, in: range, default: range.lowerBound)
    }

    private static func kind(_ range: ClosedRange<Int64>) -> String {
        "size, \(ByteSize(bytes: range.lowerBound)) to \(ByteSize(bytes: range.upperBound))"
    }
}

/// A number of bytes, in the notation of the configuration.
public struct ByteSize: Sendable, Hashable, CustomStringConvertible {
    /// The bytes.
    public var bytes: Int64

    /// A number of bytes.
    public init(bytes: Int64) { self.bytes = bytes }

    private static let units: [(name: String, size: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1),
    ]

    /// Reads a whole number with the unit `B`, `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024) or `kB`, `MB`, `GB`, `TB`
    /// (powers of 1000); `nil` for anything else. A space may separate number and unit.
    public init?(configuration text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let name = text.dropFirst(digits.count).drop { $0 == " " }
        guard let count = Int64(digits), let unit = Self.units.first(where: { $0.name == name }),
            case (let product, false) = count.multipliedReportingOverflow(by: unit.size)
        else { return nil }
        bytes = product
    }

    /// The size in the greatest 1024-based unit that gives a whole number.
    public var description: String {
        for (name, size) in Self.units.prefix(4) where bytes != 0 && bytes % size == 0 {
            return "\(bytes / size)\(name)"
        }
        return "\(bytes)B"
    }
}
