import Engines
import Synchronization

/// A write that waits for the next commit.
final class WriteRequest: Sendable {
    /// How much of a commit it takes: its samples, at least 1.
    let weight: Int
    /// What it writes. It may run twice: once with others, and once more alone where one of them failed.
    let work: @Sendable (Transaction) throws -> Void
    private let result = Mutex<Result<Void, StoreError>?>(nil)

    init(weight: Int, work: @escaping @Sendable (Transaction) throws -> Void) {
        self.weight = max(1, weight)
        self.work = work
    }

    /// What came of it, `nil` while it waits.
    var outcome: Result<Void, StoreError>? { result.withLock { $0 } }

    func finish(_ outcome: Result<Void, StoreError>) { result.withLock { $0 = outcome } }
}
