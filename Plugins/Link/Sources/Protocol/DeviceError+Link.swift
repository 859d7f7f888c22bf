import GatewayKit
import JSON

/// The error codes of Vitals Link, in addition to those of JSON-RPC 2.0.
enum LinkErrorCode: Int64 {
    case unsupported = 1
    case busy = 2
    case invalid = 3
    case notWorn = 4
    case lowBattery = 5
    case failure = 6
    case methodNotFound = -32601
    case invalidParams = -32602
}

extension DeviceError {
    /// The most characters kept of a device's message.
    static let maximumMessageLength = 500

    private enum Key: String, CaseIterable {
        case code, message
        static let words = JSONWords(of: Key.self)
    }

    /// Reads the `error` of an answer, `{code, message}`. An unknown code becomes a `failure` that names the code.
    init(link reader: inout JSONReader) throws(JSONError) {
        var code: Int64?
        var message: String?
        let start = reader.index
        try reader.beginObject()
        while let key = try reader.nextKey(in: Key.words) {
            switch key {
            case .code: code = try reader.int64()
            case .message: message = try reader.optionalString()
            }
        }
        guard let code else { throw JSONError(.wrongValue, at: start) }
        let text = message.map { $0.printable(atMost: Self.maximumMessageLength) } ?? "The device gave no reason."
        switch LinkErrorCode(rawValue: code) {
        case .unsupported, .methodNotFound: self.init(.unsupported, text)
        case .busy: self.init(.busy, text)
        case .invalid, .invalidParams: self.init(.invalid, text)
        case .notWorn: self.init(.notWorn, text)
        case .lowBattery: self.init(.lowBattery, text)
        case .failure: self.init(.failure, text)
        case nil: self.init(.failure, "The device answered with error \(code): \(text)")
        }
    }
}

extension String {
    /// A device's text, made fit for a log or a message: one line, no control characters, at most `limit` characters.
    func printable(atMost limit: Int) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .format: scalars.append(" ")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}
