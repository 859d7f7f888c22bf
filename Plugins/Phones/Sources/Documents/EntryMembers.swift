import JSON
import Vitals

/// What is wrong with an entry: with which of its members, by its path within the entry, or with the entry itself where that is empty.
struct EntryProblem: Error, Hashable {
    var member: String
    /// What would be right, as in "must be a number".
    var reason: String

    init(_ member: String, _ reason: String) { (self.member, self.reason) = (member, reason) }
}

/// The members of an entry of a script's document, none of which is unknown or there twice.
struct EntryMembers {
    private enum Value { case text(String), number(Double), list(Range<Int>), object(Range<Int>), other }

    let document: [UInt8]
    private var values: [String: Value] = [:]
    /// The path of the object within the entry, with a full stop; empty for the entry itself.
    private let path: String

    /// Reads an object.
    /// - Parameters:
    ///   - known: the members that it may have.
    ///   - path: its path within the entry; empty for the entry itself.
    init(at range: Range<Int>, of document: [UInt8], known: Set<String>, path: String = "") throws(EntryProblem) {
        self.document = document
        self.path = path.isEmpty ? "" : "\(path)."
        var problem: EntryProblem?
        do throws(JSONError) { problem = try read(range, known) } catch {
            problem = EntryProblem("", error.reason.rawValue)
        }
        guard let problem else { return }
        let isWhole = problem.member.isEmpty
        throw EntryProblem(isWhole ? path : self.path + problem.member, problem.reason)
    }

    private mutating func read(_ range: Range<Int>, _ known: Set<String>) throws(JSONError) -> EntryProblem? {
        var reader = JSONReader(document, range: range)
        guard try reader.looseObject() else { return EntryProblem("", "must be an object") }
        var problem: EntryProblem?
        while let name = try reader.nextKey() {
            let place = try reader.raw()
            guard known.contains(name) else {
                let names = known.sorted().joined(separator: ", ")
                problem = problem ?? EntryProblem(name.quoted, "is unknown; known here are \(names)")
                continue
            }
            let isThere = values.updateValue(Self.value(at: place, of: document), forKey: name) != nil
            if isThere { problem = problem ?? EntryProblem(name, "must not be there twice") }
        }
        return problem
    }

    private static func value(at range: Range<Int>, of document: [UInt8]) -> Value {
        var reader = JSONReader(document, range: range)
        do throws(JSONError) {
            switch try reader.peek() {
            case .string where range.count <= PhoneLimits.text: return .text(try reader.string())
            case .number: return .number(try reader.double())
            case .array: return .list(range)
            case .object: return .object(range)
            default: return .other
            }
        } catch {
            // A number beyond all numbers.
            return .other
        }
    }

    // MARK: - Members

    func has(_ name: String) -> Bool { values[name] != nil }

    /// A problem of a member.
    func problem(_ name: String, _ reason: String) -> EntryProblem { EntryProblem(path + name, reason) }

    /// The value of a member that must be there.
    func required<Found>(_ name: String, _ value: Found?) throws(EntryProblem) -> Found {
        guard let value else { throw problem(name, "is missing") }
        return value
    }

    /// Refuses an entry with one of these members.
    func refuse(_ names: [String], _ reason: String) throws(EntryProblem) {
        for name in names where has(name) { throw problem(name, reason) }
    }

    func text(_ name: String) throws(EntryProblem) -> String? {
        switch values[name] {
        case nil: return nil
        case .text(let text): return text
        default: throw problem(name, "must be a text of at most \(PhoneLimits.text) bytes")
        }
    }

    /// A number, also one that is written as a text: what a person picks or types in an app often is one.
    func number(_ name: String) throws(EntryProblem) -> Double? {
        switch values[name] {
        case nil: return nil
        case .number(let number): return number
        case .text(let text):
            if let number = Self.number(of: text) { return number }
            throw problem(name, "must be a number, with a point before its decimals: 71.2")
        default: throw problem(name, "must be a number")
        }
    }

    private static func number(of text: String) -> Double? {
        guard text.utf8.count <= 40 else { return nil }
        var reader = JSONReader(Array(text.utf8))
        do throws(JSONError) {
            let number = try reader.double()
            try reader.expectEnd()
            return number
        } catch { return nil }
    }

    /// Where the elements of a list are, the first `limit` of them.
    func elements(of name: String, limit: Int) throws(EntryProblem) -> [Range<Int>]? {
        guard has(name) else { return nil }
        guard case .list(let range) = values[name] else { throw problem(name, "must be a list") }
        var reader = JSONReader(document, range: range)
        var elements: [Range<Int>] = []
        do throws(JSONError) {
            try reader.beginArray()
            while elements.count < limit, try reader.nextElement() { elements.append(try reader.raw()) }
        } catch {
            throw problem(name, error.reason.rawValue)
        }
        return elements
    }

    /// The members of an object.
    func object(_ name: String, known: Set<String>) throws(EntryProblem) -> EntryMembers? {
        guard has(name) else { return nil }
        guard case .object(let range) = values[name] else { throw problem(name, "must be an object") }
        return try EntryMembers(at: range, of: document, known: known, path: path + name)
    }

    /// RFC 3339 with an offset, or Unix time in seconds or milliseconds.
    func time(_ name: String) throws(EntryProblem) -> Timestamp? {
        let moment: Timestamp?
        switch values[name] {
        case nil: return nil
        case .number(let number): moment = Self.moment(number)
        case .text(let text): moment = Timestamp(rfc3339: text) ?? Self.number(of: text).flatMap { Self.moment($0) }
        default: moment = nil
        }
        guard let moment else {
            throw problem(name, "must be a time with its offset, 2026-06-12T07:00:00+02:00, or Unix time")
        }
        return moment
    }

    /// From here on a Unix time is one in milliseconds: in seconds it would be in the year 5138, in milliseconds it is in 1973.
    private static let leastMilliseconds = 1e11

    private static func moment(_ number: Double) -> Timestamp? {
        let milliseconds = number.magnitude < leastMilliseconds ? number * 1000 : number
        return Int64(exactly: milliseconds.rounded()).map { Timestamp(milliseconds: $0) }
    }

    /// The times of `start` and `end`, which is not the earlier one.
    func interval() throws(EntryProblem) -> (start: Timestamp, end: Timestamp) {
        let start = try required("start", try time("start"))
        let end = try required("end", try time("end"))
        guard start <= end else { throw problem("end", "must not be before start") }
        return (start, end)
    }

    /// A number with the unit in another member, in a unit of the gateway. The unit of a missing number must be one, too.
    func quantity(_ name: String, unit: String, in wanted: String?) throws(EntryProblem) -> Double? {
        let written = try text(unit)
        let names = ValueUnit.names(in: wanted)
        guard written.map({ names.contains($0) }) ?? true else {
            throw problem(unit, names.isEmpty ? "must be absent" : "must be one of \(names.joined(separator: ", "))")
        }
        guard let value = try number(name) else { return nil }
        return written.flatMap { ValueUnit($0, in: wanted) }?.convert(value) ?? value
    }

    /// The name of the source of the entry.
    func source() throws(EntryProblem) -> String? {
        guard has("source") else { return nil }
        guard case .text(let name) = values["source"] else { throw Self.unnamed }
        return try Self.checked(name)
    }

    /// The name of the source of a document.
    static func source(at range: Range<Int>, of document: [UInt8]) throws(EntryProblem) -> String {
        guard case .text(let name) = value(at: range, of: document) else { throw unnamed }
        return try checked(name)
    }

    private static let unnamed = EntryProblem("source", "must be a text of 1 to \(SampleOrigin.maximumName) characters")

    private static func checked(_ name: String) throws(EntryProblem) -> String {
        guard (1...SampleOrigin.maximumName).contains(name.unicodeScalars.count) else { throw unnamed }
        return name
    }
}
