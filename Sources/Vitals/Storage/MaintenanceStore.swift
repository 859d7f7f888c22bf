/// The store for the gateway's housekeeping.
package protocol MaintenanceStore: Sendable {
    /// The store's own id, created with its file.
    var identity: SampleID { get }
    /// What is waiting, what was dropped, and the store's size.
    func statistics() async throws(StoreError) -> StoreStatistics
    /// Deletes data beyond the size limits and, with `byAge`, beyond its retention, a bounded part at a time. Returns
    /// whether more is left to delete.
    func clean(at: Timestamp, byAge: Bool) async throws(StoreError) -> Bool
    /// Deletes the state, twin and levels of a device that is no longer configured. Its samples stay until their
    /// retention ends.
    func forget(_ device: DeviceID) async throws(StoreError)
    /// The devices with stored state.
    func knownDevices() async throws(StoreError) -> [DeviceID]
}

extension MaintenanceStore {
    /// Deletes data beyond the size limits and beyond its retention.
    package func clean(at moment: Timestamp) async throws(StoreError) -> Bool {
        try await clean(at: moment, byAge: true)
    }
}

/// Counts of the store's content, and its size.
package struct StoreStatistics: Sendable, Hashable {
    /// Number of waiting entries, by lane.
    package var pending: [Lane: Int] = [:]
    package var oldestPendingAt: Timestamp?
    /// Number of items dropped since the store was created, by class.
    package var dropped: [String: Int] = [:]
    /// Number of quarantined facts, which the broker does not take.
    package var quarantined = 0
    /// Size of the store's files, in bytes.
    package var bytes: Int64 = 0
    /// Why the last write failed; `nil` if it did not.
    package var lastError: String?

    package init() {}
}
