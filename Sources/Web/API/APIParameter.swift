import Vitals

/// A parameter of the query. The raw value is its name.
enum APIParameter: String, CaseIterable, Sendable {
    case metric, from, to
    case fromDay = "from_day"
    case toDay = "to_day"
    case person, device, limit, cursor, format, wait

    /// The most bytes of a query: the longest that makes sense has 500.
    static let maximumQuery = 4 << 10
    /// The seconds that a command's answer may be waited for; then it is 202, and the command runs on.
    static let waits = 0...60
    /// How long it is waited for without `wait`.
    static let defaultWait = 30
}

/// The parameters of a request.
struct APIQuery: Sendable {
    private var values: [APIParameter: String] = [:]

    /// Reads what follows the question mark.
    /// - Throws: 400 if a parameter is not one of `known`, or comes twice, or is no text in UTF-8.
    init(_ query: String, known: [APIParameter]) throws(APIError) {
        guard query.utf8.count <= APIParameter.maximumQuery else {
            throw .invalid("The query has more than \(APIParameter.maximumQuery) bytes.")
        }
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = pair.first.flatMap({ Self.decoded($0, plusIsSpace: true) }),
                let parameter = APIParameter(rawValue: name), known.contains(parameter)
            else {
                let names = known.map(\.rawValue).joined(separator: ", ")
                throw .invalid("There is no such parameter here. Known: \(names.isEmpty ? "none" : names).")
            }
            guard let value = Self.decoded(pair.count == 2 ? pair[1] : "", plusIsSpace: true) else {
                throw .invalid("\(name) is no text in UTF-8.")
            }
            guard values.updateValue(value, forKey: parameter) == nil else { throw .invalid("\(name) is there twice.") }
        }
    }

    /// A text of a URL without its percent signs; `nil` if they are wrong, or it is no UTF-8.
    static func decoded(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }

    /// A text with percent signs where a query needs them.
    static func encoded(_ text: String) -> String {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8
        return text.utf8.reduce(into: "") { result, byte in
            if plain.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    subscript(_ parameter: APIParameter) -> String? { values[parameter] }

    // MARK: - By type

    /// The metric, which is required.
    func metric() throws(APIError) -> Metric {
        guard let name = values[.metric] else {
            throw .invalid("metric is missing: whose samples? One of \(Self.metrics).")
        }
        guard let metric = Metric(rawValue: name) else {
            throw .invalid("There is no such metric. There are \(Self.metrics).")
        }
        return metric
    }

    private static let metrics = Metric.allCases.map(\.rawValue).joined(separator: ", ")

    /// A moment; `nil` without the parameter.
    func moment(_ parameter: APIParameter) throws(APIError) -> Timestamp? {
        guard let text = values[parameter] else { return nil }
        guard let moment = Timestamp(rfc3339: text) else {
            throw .invalid("\(parameter.rawValue) is a moment such as 2026-05-14T08:00:00Z; + is %2B there.")
        }
        return moment
    }

    /// A local day; `nil` without the parameter.
    func day(_ parameter: APIParameter) throws(APIError) -> LocalDay? {
        guard let text = values[parameter] else { return nil }
        guard let day = LocalDay(text) else { throw .invalid("\(parameter.rawValue) is a day such as 2026-05-14.") }
        return day
    }

    /// A whole number, or the default without the parameter.
    func number(_ parameter: APIParameter, in range: ClosedRange<Int>, default: Int) throws(APIError) -> Int {
        guard let text = values[parameter] else { return `default` }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text),
            range.contains(number)
        else {
            throw .invalid("\(parameter.rawValue) is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// The form of a list.
    func format(accept: String?, among offered: [APIFormat]) throws(APIError) -> APIFormat {
        guard let word = values[.format] else {
            guard let format = APIFormat.accepted(accept, among: offered) else { throw .notAcceptable }
            return format
        }
        guard let format = APIFormat(rawValue: word) else {
            throw .invalid("format is one of \(APIFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return format
    }

    /// The place of the next page; `nil` for the first one.
    func cursor(_ numbers: Int) throws(APIError) -> APICursor? {
        guard let text = values[.cursor] else { return nil }
        guard let cursor = APICursor(text, numbers: numbers) else {
            throw .invalid("cursor is the `next` of an earlier page of the same list; leave it out for the first one.")
        }
        return cursor
    }
}

/// The name of a page: the range of the first one, and the place where this one begins, as numbers with dots between them. To clients it
/// is a word. Every such text is a place, so a page that has gone is only empty.
struct APICursor: Sendable, Hashable, CustomStringConvertible {
    /// The most digits of a number.
    static let digits = 19

    let numbers: [Int64]

    init(_ numbers: [Int64]) { self.numbers = numbers }

    /// Reads a name with so many numbers.
    init?(_ text: String, numbers count: Int) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == count else { return nil }
        var numbers: [Int64] = []
        for part in parts {
            let isNegative = part.first == "-"
            let digits = isNegative ? part.dropFirst() : part
            guard (1...Self.digits).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            numbers.append(Int64(part) ?? (isNegative ? .min : .max))
        }
        self.numbers = numbers
    }

    /// The same as a pattern of JSON Schema.
    static func pattern(_ count: Int) -> String { "^-?[0-9]{1,\(digits)}(\\.-?[0-9]{1,\(digits)}){\(count - 1)}$" }

    var description: String { numbers.map { "\($0)" }.joined(separator: ".") }

    /// A moment of those that have a text.
    func moment(_ place: Int) -> Timestamp {
        min(max(Timestamp(milliseconds: numbers[place]), .earliest), .latest)
    }
}
