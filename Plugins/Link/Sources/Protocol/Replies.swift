import JSON

/// Answers to a device's requests, several lines in one write.
struct Replies {
    private var writer = JSONWriter()

    /// The lines written so far.
    var bytes: [UInt8] { writer.bytes }
    var isEmpty: Bool { writer.bytes.isEmpty }

    /// Answers `{}`.
    mutating func accept(_ id: LinkToken) {
        begin(id)
        writer.member("result", object: { _ in })
        end()
    }

    /// Answers with an error.
    mutating func refuse(_ id: LinkToken, _ code: LinkErrorCode, _ message: String) {
        begin(id)
        writer.member("error") { error in
            error.member("code", code.rawValue)
            error.member("message", message)
        }
        end()
    }

    private mutating func begin(_ id: LinkToken) {
        writer.beginObject()
        writer.member("jsonrpc", "2.0")
        writer.key("id")
        id.write(to: &writer)
    }

    private mutating func end() {
        writer.endObject()
        writer.newline()
    }
}
