import GatewayKit

/// Requests for stored records, and the answers (GATT Specification Supplement, Record Access Control Point, 0x2A52).
enum RecordAccess {
    /// Requests.
    enum Request: Sendable, Hashable {
        /// Send all records.
        case reportAll
        /// Send the records from this number on. The operand's filter 1 is the sequence number.
        case report(fromSequence: Int)
        /// Count all records.
        case countAll
        /// Stop sending.
        case abort

        /// The operation code, which an answer repeats.
        var operation: UInt8 {
            switch self {
            case .reportAll, .report: 1
            case .countAll: 4
            case .abort: 3
            }
        }

        /// The bytes to write.
        var bytes: [UInt8] {
            switch self {
            case .reportAll: [1, 1]
            case .report(let sequence): [1, 3, 1, UInt8(sequence & 0xff), UInt8(sequence >> 8 & 0xff)]
            case .countAll: [4, 1]
            case .abort: [3, 0]
            }
        }
    }

    /// Answers.
    enum Response: Sendable, Hashable {
        /// The number of records.
        case count(Int)
        /// The request with this operation code is done, or failed.
        case done(operation: UInt8, Outcome)

        init(_ bytes: [UInt8]) throws(FormatError) {
            var reader = FieldReader(bytes)
            let operation = try reader.uint8()
            guard try reader.uint8() == 0 else { throw FormatError("it is an answer with an operator") }
            switch operation {
            case 5: self = .count(Int(try reader.uint16()))
            case 6: self = .done(operation: try reader.uint8(), Outcome(code: try reader.uint8()))
            default: throw FormatError("it is no answer, but the operation \(operation)")
            }
        }
    }

    /// How a request ended.
    struct Outcome: Sendable, Hashable {
        var code: UInt8
        static let success = Outcome(code: 1)
        static let operatorNotSupported = Outcome(code: 4)
        static let noRecords = Outcome(code: 6)
        static let operandNotSupported = Outcome(code: 9)
    }
}
