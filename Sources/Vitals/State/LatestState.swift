/// The newest sample of a metric, or that there is none that is still fresh.
package struct LatestState: Sendable, Hashable {
    /// The newest sample.
    package var stored: StoredSample
    /// Until when it is fresh; `nil` for a metric that is fresh without end.
    package var freshUntil: Timestamp?
    /// Whether it is no longer fresh, so that it is published without its value.
    package var isStale: Bool

    package init(stored: StoredSample, freshUntil: Timestamp?, isStale: Bool) {
        self.stored = stored
        self.freshUntil = freshUntil
        self.isStale = isStale
    }
}
