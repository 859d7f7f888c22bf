import Foundation
import JSON

/// The journal of a Python device: a JSON object per line.
struct Journal {
    let lines: [JSONValue]

    /// Reads the journal so far; empty if it does not exist yet.
    init(_ path: String) throws {
        let text = FileManager.default.contents(atPath: path) ?? Data()
        lines = try text.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0)) }
    }

    /// The methods that were called, in order.
    var methods: [String] { lines.compactMap { $0["method"]?.asString } }

    /// The parameters of the last call of a method.
    func last(_ method: String) -> JSONValue? { lines.last { $0["method"]?.asString == method }?["params"] }

    /// A file that holds one JSON value.
    static func file(_ path: String) throws -> JSONValue {
        try JSONValue(parsing: Array(FileManager.default.contents(atPath: path) ?? Data()))
    }
}
