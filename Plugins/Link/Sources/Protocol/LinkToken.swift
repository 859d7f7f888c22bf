import JSON

/// An opaque value of the device: the id of a request, of a measurement, of a page. It is kept and returned as the
/// device's JSON text, whether a string, a number or anything else.
struct LinkToken: Hashable, Sendable {
    /// The longest token, in bytes of JSON text: thousands of tokens may wait at once.
    static let maximumLength = 1_024

    /// The JSON text.
    let text: String

    /// A token from its JSON text; text that is not JSON becomes the content of a string.
    init(text: String) { self.text = text }

    /// Reads a token, which must not be `null`.
    init(from reader: inout JSONReader) throws(JSONError) {
        guard try reader.peek() != .null else { throw JSONError(.wrongType, at: reader.index) }
        let range = try reader.raw()
        guard range.count <= Self.maximumLength else { throw JSONError(.wrongValue, at: range.lowerBound) }
        text = String(decoding: reader.bytes[range], as: UTF8.self)
    }

    /// The value of a token that is a whole number.
    var number: Int64? { Int64(text) }

    /// Writes the token exactly as the device wrote it.
    func write(to writer: inout JSONWriter) {
        let bytes = Array(text.utf8)
        var reader = JSONReader(bytes)
        do {
            try reader.skip()
            try reader.expectEnd()
            writer.raw(bytes: bytes)
        } catch {
            writer.string(text)
        }
    }
}
