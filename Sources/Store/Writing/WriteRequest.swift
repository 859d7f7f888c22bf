import Synchronization
import Vitals

/// A write that waits for the next commit.
final class WriteRequest: Sendable {
    /// Its share of a commit: its number of samples, at least 1.
    let weight: Int
    /// The write itself. It may run twice: once with other requests, and again alone if one of them failed.
    let work: @Sendable (Transaction) throws -> Void
    private let result = Mutex<Result<Void, StoreError>?>(nil)

    /// Whether it stores nothing new: its success does not show that there is room.
    let isUpkeep: Bool

    init(weight: Int = 1, isUpkeep: Bool = false, work: @escaping @Sendable (Transaction) throws -> Void) {
        self.weight = max(1, weight)
        self.isUpkeep = isUpkeep
        self.work = work
    }

    /// The result, `nil` while the request waits.
    var outcome: Result<Void, StoreError>? { result.withLock { $0 } }

    func complete(_ outcome: Result<Void, StoreError>) { result.withLock { $0 = outcome } }
}
