package import Vitals

/// The store of delivery: the outbox entries.
package protocol OutboxStore: Sendable {
    /// Entries of a lane that the broker has not acknowledged, with numbers greater than `after`, ascending.
    func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [OutboxEntry]
    /// Records that the broker has everything of a lane up to and including this number.
    func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError)
    /// The same with the next commit, whatever causes it, and without waiting for it.
    func note(_ lane: Lane, through: Int64)
    /// Facts by number, acknowledged or not; those no longer stored are left out.
    func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact]
}
