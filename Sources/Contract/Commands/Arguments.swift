import JSON
import Vitals

/// The members of a command's payload. Each is read by name and checked. All errors are collected; at the end, every
/// member that was not read is one more.
///
/// `null` counts as absent: templates of automation tools write `null` for missing values.
struct Arguments {
    private let members: [JSONValue.Member]
    private var known: [String] = []
    private(set) var violations: [Violation] = []

    init(_ members: [JSONValue.Member] = []) { self.members = members }

    /// Whether a member is given.
    func has(_ name: String) -> Bool { members.contains { $0.key == name && !$0.value.isNull } }

    /// Records an error.
    mutating func refuse(_ path: String, _ message: String) {
        violations.append(Violation(path: path.cut(to: CommandLimits.pathLength), message: message))
    }

    /// Reads a member. `nil` if it is absent, or if `read` rejects it, which is an error that names what is
    /// `expected`.
    mutating func member<Value>(_ name: String, _ expected: String, _ read: (JSONValue) -> Value?) -> Value? {
        known.append(name)
        guard let value = member(name), !value.isNull else { return nil }
        guard let result = read(value) else {
            refuse(name, "must be \(expected)")
            return nil
        }
        return result
    }

    /// Reads a required member.
    mutating func require<Value>(_ name: String, _ expected: String, _ read: (JSONValue) -> Value?) -> Value? {
        guard has(name) else {
            known.append(name)
            refuse(name, "is missing; it must be \(expected)")
            return nil
        }
        return member(name, expected, read)
    }

    /// A member, unchecked.
    func member(_ name: String) -> JSONValue? { members.first { $0.key == name }?.value }

    /// Whether a member is given as `null`.
    func isNull(_ name: String) -> Bool { member(name)?.isNull ?? false }

    /// Leaves the members read so far out of the list of known arguments.
    mutating func forgetKnown() { known = [] }

    /// Marks members as known that are used elsewhere or ignored.
    mutating func allow(_ names: String...) { known += names }

    /// The fingerprint of the members but for those with these names. Their order and that of inner members, white space, the way of
    /// writing a number, and `null` for an absent member make no difference.
    func content(without names: [String]) -> SampleID {
        let members = members.filter { !$0.value.isNull && !names.contains($0.key) }
        return SampleID(name: JSONValue.object(members).sorted.description)
    }

    /// Ends the reading: every unknown member is an error.
    mutating func refuseUnknown(of command: String, envelope: [String]) {
        for member in members where !known.contains(member.key) && !envelope.contains(member.key) {
            let names = known.isEmpty ? "it takes none" : "known are \(known.joined(separator: ", "))"
            refuse(member.key, "is no argument of \(command); \(names)")
        }
    }
}

extension Arguments {
    mutating func bool(_ name: String) -> Bool? { member(name, "true or false") { $0.asBool } }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        member(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            value.asInt.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func moment(_ name: String) -> Timestamp? {
        member(name, "a time in RFC 3339, such as 2026-11-21T07:31:04Z") {
            $0.asString.flatMap(Timestamp.init(rfc3339:))
        }
    }

    mutating func day(_ name: String) -> LocalDay? {
        member(name, "a date such as 2026-11-21") { $0.asString.flatMap { LocalDay($0) } }
    }

    /// A short, non-empty text.
    mutating func text(_ name: String, maximumLength: Int) -> String? {
        member(name, "a text of 1 to \(maximumLength) bytes") { value in
            value.asString.flatMap { (1...maximumLength).contains($0.utf8.count) ? $0 : nil }
        }
    }

    /// A metric from this list.
    mutating func metric(_ name: String, among metrics: [Metric], isRequired: Bool) -> Metric? {
        let expected = "one of \(Self.names(metrics))"
        let read: (JSONValue) -> Metric? = { value in
            value.asString.flatMap(Metric.init(rawValue:)).flatMap { metrics.contains($0) ? $0 : nil }
        }
        return isRequired ? require(name, expected, read) : member(name, expected, read)
    }

    /// Metrics from this list, each once; empty if the member is absent. Each wrong element is a separate error.
    mutating func metrics(_ name: String, among allowed: [Metric]) -> [Metric] {
        guard let list = member(name, "a list of metrics", { $0.asArray }) else { return [] }
        var result: [Metric] = []
        for (position, element) in list.enumerated() {
            if let metric = element.asString.flatMap(Metric.init(rawValue:)), allowed.contains(metric) {
                if !result.contains(metric) { result.append(metric) }
            } else {
                refuse("\(name)[\(position)]", "must be one of \(Self.names(allowed))")
            }
        }
        return result
    }

    private static func names(_ metrics: [Metric]) -> String { metrics.map(\.rawValue).joined(separator: ", ") }
}

extension JSONValue {
    /// The value with the members of each object in the order of their keys.
    fileprivate var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.key, $0.value.sorted) }.sorted { $0.key < $1.key })
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}
