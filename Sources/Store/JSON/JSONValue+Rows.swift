import JSON
import Vitals

/// JSON as stored in rows: `nil` members are omitted, times are milliseconds.
extension JSONValue {
    /// An object of the members that have a value.
    static func record(_ members: [(key: String, value: JSONValue?)]) -> JSONValue {
        .object(members.compactMap { member in member.value.map { Member(member.key, $0) } })
    }

    static func of(_ number: Double?) -> JSONValue? { number.map { .number($0) } }
    static func of(_ number: Int?) -> JSONValue? { number.map { .number(Double($0)) } }
    static func of(_ text: String?) -> JSONValue? { text.map { .string($0) } }
    static func of(_ id: SampleID?) -> JSONValue? { id.map { .string($0.description) } }
    static func of(_ moment: Timestamp?) -> JSONValue? { moment.map { time($0) } }
    static func time(_ moment: Timestamp) -> JSONValue { .number(Double(moment.milliseconds)) }

    /// The value as JSON text.
    var text: String { description }

    /// Parses a row's text.
    static func kept(_ text: String) throws -> JSONValue { try kept(Array(text.utf8)) }

    /// Parses a row's text.
    static func kept(_ bytes: [UInt8]?) throws -> JSONValue {
        guard let bytes else { throw isDamaged }
        do { return try JSONValue(parsing: bytes) } catch { throw isDamaged }
    }

    /// The error for a row that this program has not written.
    static var isDamaged: StoreError {
        StoreError(.corrupt, "The store is damaged: a row cannot be decoded. It is moved aside at the next start.")
    }

    func number(_ key: String) throws -> Double { try Self.present(self[key]?.asDouble) }
    func integer(_ key: String) throws -> Int { try Self.present(self[key]?.asInt) }
    func text(_ key: String) throws -> String { try Self.present(self[key]?.asString) }
    func list(_ key: String) throws -> [JSONValue] { try Self.present(self[key]?.asArray) }
    func time(_ key: String) throws -> Timestamp { try Self.present(optionalTime(key)) }
    func optionalTime(_ key: String) -> Timestamp? { self[key]?.asInt64.map { Timestamp(milliseconds: $0) } }
    func id(_ key: String) throws -> SampleID { try Self.present(optionalID(key)) }
    func optionalID(_ key: String) -> SampleID? { self[key]?.asString.flatMap { SampleID($0) } }

    /// A member that is one of an enumeration's raw values.
    func word<Word: RawRepresentable<String>>(_ key: String, _: Word.Type) throws -> Word {
        try Self.present(self[key]?.asString.flatMap(Word.init(rawValue:)))
    }

    private static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw isDamaged }
        return value
    }
}
