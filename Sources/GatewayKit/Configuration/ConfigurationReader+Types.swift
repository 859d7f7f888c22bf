import Vitals

extension ConfigurationReader {
    /// A required, non-empty string. A number also counts as text.
    public mutating func string(_ key: String, about: String = "") -> String {
        describe(key, "text", default: KeyDescription.required, about: about)
        guard let value = value(key) else {
            report("\(key) is missing; a text is needed here.", at: members(has: key) ? key : nil)
            return ""
        }
        return text(value, key) ?? ""
    }

    /// A string, or the default if the key is absent.
    public mutating func string(_ key: String, default: String, about: String = "") -> String {
        describe(key, "text", default: `default`, about: about)
        guard let value = value(key) else { return `default` }
        return text(value, key) ?? `default`
    }

    /// A string, or `nil` if the key is absent.
    public mutating func optionalString(_ key: String, about: String = "") -> String? {
        describe(key, "text", about: about)
        guard let value = value(key) else { return nil }
        return text(value, key)
    }

    /// A required, non-empty list of strings.
    public mutating func strings(_ key: String, about: String = "") -> [String] {
        describe(key, "list of texts", default: KeyDescription.required, about: about)
        guard let value = value(key) else {
            report("\(key) is missing; a list of texts is needed here.", at: members(has: key) ? key : nil)
            return []
        }
        guard case .list(let values) = value.content, !values.isEmpty else {
            report("A list of texts is needed here, such as [one, two].", at: key)
            return []
        }
        return values.compactMap { text($0, key) }
    }

    /// A required whole number within `range`.
    public mutating func integer(_ key: String, in range: ClosedRange<Int>, about: String = "") -> Int {
        describe(key, Self.kind(range), default: KeyDescription.required, about: about)
        guard value(key) != nil else {
            report("\(key) is missing; a whole number from \(range.lowerBound) to \(range.upperBound) is needed here.")
            return range.lowerBound
        }
        return integer(key, in: range, default: range.lowerBound)
    }

    /// A whole number within `range`, or `nil` if the key is absent.
    public mutating func optionalInteger(_ key: String, in range: ClosedRange<Int>, about: String = "") -> Int? {
        describe(key, Self.kind(range), about: about)
        return value(key) == nil ? nil : integer(key, in: range)
    }

    /// A whole number within `range`, or the default if the key is absent.
    public mutating func integer(
        _ key: String, in range: ClosedRange<Int>, default: Int, about: String = ""
    ) -> Int {
        describe(key, Self.kind(range), default: "\(`default`)", about: about)
        guard let value = value(key) else { return `default` }
        guard case .scalar(let text, _) = value.content, let number = Int(text), range.contains(number) else {
            report("A whole number from \(range.lowerBound) to \(range.upperBound) is needed here.", at: key)
            return `default`
        }
        return number
    }

    /// A number within `range`, or the default if the key is absent.
    public mutating func number(
        _ key: String, in range: ClosedRange<Double>, default: Double, about: String = ""
    ) -> Double {
        describe(
            key, "number, \(range.lowerBound) to \(range.upperBound)", default: "\(`default`)", about: about)
        guard let value = value(key) else { return `default` }
        guard case .scalar(let text, _) = value.content, let number = Double(text), range.contains(number) else {
            report("A number from \(range.lowerBound) to \(range.upperBound) is needed here.", at: key)
            return `default`
        }
        return number
    }

    /// A switch (`true`, `false`, `yes`, `no`, `on`, `off`), or the default if the key is absent.
    public mutating func flag(_ key: String, default: Bool, about: String = "") -> Bool {
        describe(key, "true or false", default: "\(`default`)", about: about)
        guard let value = value(key) else { return `default` }
        if case .scalar(let text, _) = value.content {
            switch text.lowercased() {
            case "true", "yes", "on": return true
            case "false", "no", "off": return false
            default: break
            }
        }
        report("true or false is needed here.", at: key)
        return `default`
    }

    /// A duration such as `90s`, `15m`, `24h`, `30d` within `range`, or the default if the key is absent.
    public mutating func duration(
        _ key: String, in range: ClosedRange<Duration>, default: Duration, about: String = ""
    ) -> Duration {
        describe(key, Self.kind(range), default: `default`.configurationText, about: about)
        guard let value = value(key) else { return `default` }
        guard case .scalar(let text, _) = value.content, let duration = Duration(configuration: text) else {
            report("A duration is needed here, such as 90s, 15m, 24h or 30d.", at: key)
            return `default`
        }
        guard range.contains(duration) else {
            report(
                "A duration from \(range.lowerBound.configurationText) to \(range.upperBound.configurationText) is needed here.",
                at: key)
            return `default`
        }
        return duration
    }

    /// One of several words, or the default if the key is absent.
    public mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, of type: Choice.Type = Choice.self, default: Choice, about: String = ""
    ) -> Choice where Choice.RawValue == String {
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        describe(key, "one of \(choices)", default: `default`.rawValue, about: about)
        guard let value = value(key) else { return `default` }
        if case .scalar(let text, _) = value.content {
            if let choice = Choice(rawValue: text) { return choice }
            // YAML also reads `off` as false.
            if text == "false", let choice = Choice(rawValue: "off") { return choice }
        }
        report("One of \(choices) is needed here.", at: key)
        return `default`
    }

    /// Reads a nested map; a missing one counts as empty. Its issues and unknown keys become issues of this map.
    public mutating func section<Result>(
        _ key: String, about: String = "", _ read: (inout ConfigurationReader) -> Result
    ) -> Result {
        describe(key, "map", about: about)
        mapKeys.insert(key)
        let value = value(key) ?? ConfigurationValue(.map([]), line: line)
        var reader = ConfigurationReader(value, path: join(key), place: place, isDescribing: isDescribing)
        let result = read(&reader)
        adopt(&reader)
        return result
    }

    private static func kind(_ range: ClosedRange<Int>) -> String {
        "whole number, \(range.lowerBound) to \(range.upperBound)"
    }

    /// A range of durations in a description.
    static func kind(_ range: ClosedRange<Duration>) -> String {
        "duration, \(range.lowerBound.configurationText) to \(range.upperBound.configurationText)"
    }

    private func members(has key: String) -> Bool { keys.contains(key) }

    private mutating func text(_ value: ConfigurationValue, _ key: String) -> String? {
        if case .scalar(let text, _) = value.content, !text.isEmpty { return text }
        report("A text is needed here.", at: key)
        return nil
    }
}

extension Duration {
    /// Reads a duration from the configuration: a whole number and `ms`, `s`, `m`, `h` or `d`; `nil` for anything else.
    public init?(configuration text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits) else { return nil }
        let unit: Int64? =
            switch text.dropFirst(digits.count) {
            case "ms": 1
            case "s": 1000
            case "m": 60_000
            case "h": 3_600_000
            case "d": 86_400_000
            default: nil
            }
        guard let unit, case (let product, false) = count.multipliedReportingOverflow(by: unit) else { return nil }
        self = .milliseconds(product)
    }

    /// The duration in the notation of the configuration, in the greatest unit that gives a whole number.
    public var configurationText: String {
        let count = inMilliseconds
        for (size, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")] as [(Int64, String)]
        where count != 0 && count % size == 0 {
            return "\(count / size)\(name)"
        }
        return count == 0 ? "0s" : "\(count)ms"
    }
}
