/// What goes wrong, or slowly, on one direction of a scripted link.
package struct LinkFaults: Sendable, Hashable {
    /// The connection breaks after so many bytes; what was sent before still arrives.
    package var breaksAfter: Int?
    /// Each read gives so many bytes at most, drawn from the range by a seed; `nil` gives all that is there.
    package var chunks: ClosedRange<Int>?
    /// Bytes arrive so much later, drawn from the range by a seed.
    package var delay: ClosedRange<Duration>?

    /// No faults, unless told.
    package init(breaksAfter: Int? = nil, chunks: ClosedRange<Int>? = nil, delay: ClosedRange<Duration>? = nil) {
        self.breaksAfter = breaksAfter
        self.chunks = chunks
        self.delay = delay
    }

    /// None.
    package static let none = LinkFaults()
}
