import JSON
import Vitals

extension JSONWriter {
    /// Writes a member whose value `body` writes, or `null`.
    mutating func member<Value>(_ key: StaticString, _ value: Value?, _ body: (inout JSONWriter, Value) -> Void) {
        self.key(key)
        if let value { body(&self, value) } else { null() }
    }

    /// Writes a member that is a moment, or `null`.
    mutating func member(_ key: StaticString, _ moment: Timestamp?) {
        self.key(key)
        if let moment { quoted { moment.append(to: &$0) } } else { null() }
    }

    /// Writes a member that is an id, or `null`.
    mutating func member(_ key: StaticString, _ id: SampleID?) {
        self.key(key)
        if let id { quoted { id.append(to: &$0) } } else { null() }
    }

    /// Writes a member that is a list of texts.
    mutating func member(_ key: StaticString, texts: some Sequence<String>) {
        member(key, array: texts) { $0.string($1) }
    }

    /// Writes a member that is a list of ranges of numbers.
    mutating func member(_ key: StaticString, numbers: [ClosedRange<Int64>]) {
        member(key, array: numbers) { writer, range in
            writer.beginObject()
            writer.member("from_seq", range.lowerBound)
            writer.member("to_seq", range.upperBound)
            writer.endObject()
        }
    }

    /// Writes the numbers of refused records, by reason.
    mutating func member(_ key: StaticString, refusals: [RefusalReason: Int]) {
        member(key) { writer in
            for reason in RefusalReason.allCases {
                guard let count = refusals[reason] else { continue }
                writer.key(escaping: reason.rawValue)
                writer.int(count)
            }
        }
    }
}
