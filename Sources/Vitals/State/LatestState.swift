/// The newest sample of a metric, or that none is fresh.
package struct LatestState: Sendable, Hashable {
    /// The newest sample.
    package var stored: StoredSample
    /// When it goes stale; `nil` for never.
    package var freshUntil: Timestamp?
    /// Whether it is stale and therefore published without its value.
    package var isStale: Bool

    package init(stored: StoredSample, freshUntil: Timestamp?, isStale: Bool) {
        self.stored = stored
        self.freshUntil = freshUntil
        self.isStale = isStale
    }
}
