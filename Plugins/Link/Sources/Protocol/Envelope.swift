import GatewayKit
import JSON

/// The calls of a device, by their names on the wire.
enum PeerMethod: String, CaseIterable {
    case sample
    case measurementSample = "measurement/sample"
    case measurementError = "measurement/error"
    case measurementEnded = "measurement/ended"
    case battery
    case wear
    case signal
    case alert
    case log

    static let words = JSONWords(of: PeerMethod.self)
}

/// One JSON-RPC 2.0 message from the device, with its parts still as text.
enum Envelope {
    /// A notification, or a request if it has an `id`. The method is `nil` if it is unknown.
    case call(PeerMethod?, params: Range<Int>?, id: LinkToken?)
    /// An answer to one of our calls; `nil` for an id that we never use.
    case answer(to: Int64?, Result<Range<Int>, DeviceError>)

    private enum Key: String, CaseIterable {
        case id, method, params, result, error
        static let words = JSONWords(of: Key.self)
    }

    /// Reads a line. A missing or wrong `jsonrpc` is accepted: devices forget it.
    init(from reader: inout JSONReader) throws(JSONError) {
        var method: PeerMethod??
        var id: Range<Int>?
        var params: Range<Int>?
        var result: Range<Int>?
        var error: DeviceError?
        let start = reader.index
        try reader.beginObject()
        while let key = try reader.nextKey(in: Key.words) {
            switch key {
            case .method: method = .some(try reader.word(in: PeerMethod.words))
            case .id: id = try reader.raw()
            case .params: params = try reader.raw()
            case .result: result = try reader.raw()
            case .error: error = try reader.takeNull() ? nil : try DeviceError(link: &reader)
            }
        }
        try reader.expectEnd()
        if let method {
            self = .call(
                method, params: params,
                id: try id.map { range throws(JSONError) in
                    try Self.token(range, of: reader)
                })
        } else if let id {
            let number = (try? Self.token(id, of: reader))?.number
            if let error {
                self = .answer(to: number, .failure(error))
            } else if let result {
                self = .answer(to: number, .success(result))
            } else {
                throw JSONError(.wrongValue, at: start)
            }
        } else {
            throw JSONError(.wrongValue, at: start)
        }
    }

    /// Reads an id, which must be a string or a number.
    private static func token(_ range: Range<Int>, of reader: JSONReader) throws(JSONError) -> LinkToken {
        var inner = JSONReader(reader.bytes, range: range)
        switch try inner.peek() {
        case .string, .number: return try LinkToken(from: &inner)
        default: throw JSONError(.wrongType, at: range.lowerBound)
        }
    }
}
