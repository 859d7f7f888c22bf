/// A heart rate as JSON bytes of a fixed length: rendering one is a copy and a few digits, so that the feeder is never
/// the bottleneck.
struct SampleText: Sendable {
    /// The text around the sample.
    enum Frame: Sendable {
        /// A notification, with its line end.
        case notification
        /// A request, with its line end: its `id` is `firstRequest` plus the key.
        case request
        /// An element of a page of history.
        case element
    }

    /// The lowest request number: all request numbers have the same number of digits.
    static let firstRequest = 1_000_000_000

    private let bytes: [UInt8]
    private let request: Int?
    private let start: Int
    private let end: Int
    private let value: Int

    /// - Parameter isFine: whether the value has three decimals, for the microseconds of the sending time.
    init(_ frame: Frame, isFine: Bool) {
        let zeros = "0000000000000"
        var text = ""
        func mark() -> Int { text.utf8.count }
        var request: Int?
        switch frame {
        case .notification: text += #"{"jsonrpc":"2.0","method":"sample","params":{"sample":"#
        case .request:
            text += #"{"jsonrpc":"2.0","id":"#
            request = mark()
            text += #"0000000000,"method":"sample","params":{"sample":"#
        case .element: break
        }
        text += #"{"metric":"heart_rate","start":"#
        start = mark()
        text += zeros + #","end":"#
        end = mark()
        text += zeros + #","kind":"normal","user_initiated":false,"value":"#
        value = mark()
        text += isFine ? "60.000}" : "60}"
        text += frame == .element ? "," : "}}\n"
        self.request = request
        bytes = Array(text.utf8)
    }

    /// Bytes of one sample.
    var length: Int { bytes.count }

    /// Appends the sample of a key.
    /// - Parameters:
    ///   - start: milliseconds since 1970.
    ///   - microseconds: 0 to 999, as the value's decimals; `nil` for a whole value.
    func append(to out: inout [UInt8], key: Int, start time: Int64, microseconds: Int? = nil) {
        let base = out.count
        out.append(contentsOf: bytes)
        out.withUnsafeMutableBufferPointer { buffer in
            let text = UnsafeMutableBufferPointer(rebasing: buffer[base...])
            if let request { Self.write(Int64(Self.firstRequest + key), digits: 10, to: text, at: request) }
            Self.write(time, digits: 13, to: text, at: start)
            Self.write(time, digits: 13, to: text, at: end)
            Self.write(Int64(60 + key % 40), digits: 2, to: text, at: value)
            if let microseconds { Self.write(Int64(microseconds), digits: 3, to: text, at: value + 3) }
        }
    }

    private static func write(_ number: Int64, digits: Int, to text: UnsafeMutableBufferPointer<UInt8>, at index: Int) {
        var rest = number
        for position in stride(from: index + digits - 1, through: index, by: -1) {
            text[position] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}
