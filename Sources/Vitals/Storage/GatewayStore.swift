/// The complete store, of which the gateway's parts get one protocol each.
///
/// Each method is one transaction, on disk when it returns. Writes of several callers share a commit (group commit).
/// The real store is SQLite; tests put a `FaultyStore` in front of it.
package protocol GatewayStore: CommandStore, DeviceStore, OutboxStore {
    /// The store's own id, created with its file.
    var identity: SampleID { get }
    /// What is waiting, what was dropped, and the store's size.
    func statistics() async throws(StoreError) -> StoreStatistics
    /// Deletes data beyond the size limits and, with `byAge`, beyond its retention, a bounded part at a time. Returns
    /// whether more is left to delete.
    func clean(at: Timestamp, byAge: Bool) async throws(StoreError) -> Bool
    /// Deletes the state, twin, levels and answers of a device that is no longer configured: who gets its id later must not
    /// have them. Its samples stay until their retention ends.
    func forget(_ device: DeviceID) async throws(StoreError)
    /// The devices with stored state.
    func knownDevices() async throws(StoreError) -> [DeviceID]
}

extension GatewayStore {
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

/// Why the store could not carry out a request.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// The disk is full. Nothing was changed; a later attempt may succeed.
        case full
        /// The file cannot be read or written. Nothing was changed.
        case unavailable
        /// The file is damaged.
        case corrupt
        /// Too many answers wait for the broker: this one is not stored.
        case answersWait
        /// The store is closed.
        case closed
    }
    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
