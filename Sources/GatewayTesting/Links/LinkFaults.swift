/// The faults and delays of one direction of a scripted link.
package struct LinkFaults: Sendable, Hashable {
    /// The connection breaks after this many bytes; earlier ones still arrive.
    package var breaksAfter: Int?
    /// The most bytes of each read, drawn from the range by a seed; `nil` returns all available bytes.
    package var chunks: ClosedRange<Int>?
    /// The delay of bytes, drawn from the range by a seed.
    package var delay: ClosedRange<Duration>?

    /// Creates faults; none by default.
    package init(breaksAfter: Int? = nil, chunks: ClosedRange<Int>? = nil, delay: ClosedRange<Duration>? = nil) {
        self.breaksAfter = breaksAfter
        self.chunks = chunks
        self.delay = delay
    }

    /// No faults.
    package static let none = LinkFaults()
}
