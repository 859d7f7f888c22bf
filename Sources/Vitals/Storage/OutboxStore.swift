/// The store of delivery: the outbox entries.
package protocol OutboxStore: Sendable {
    /// Entries of a lane that the broker has not acknowledged, with numbers greater than `after`, ascending.
    func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [OutboxEntry]
    /// Records that the broker has everything of a lane up to and including this number.
    func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError)
    /// The same with the next commit of any cause, and without waiting for it.
    func note(_ lane: Lane, through: Int64)
    /// Facts by number: waiting, acknowledged or quarantined; those no longer stored are skipped.
    func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact]
    /// Takes facts that the broker refuses out of the outbox and keeps them apart, and makes one gap for each device and
    /// metric of them. A fact that no longer waits changes nothing; a gap is quarantined without another gap.
    func quarantine(_ facts: [RefusedFact], at: Timestamp) async throws(StoreError)
    /// Forgets that these facts were quarantined: the broker has taken them since.
    func releaseQuarantined(_ numbers: [Int64]) async throws(StoreError)
}
