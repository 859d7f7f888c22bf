import Synchronization

/// The memory for documents that are received, or wait for their driver.
final class BodyBudget: Sendable {
    /// The most bytes of one document.
    static let maximumBody = 20 << 20
    /// The most bytes of all documents together.
    static let maximumBytes = 64 << 20

    private let used = Mutex(0)

    /// The bytes in use.
    var bytes: Int { used.withLock { $0 } }

    /// A share of the memory, given back when its last owner is gone.
    final class Share: Sendable {
        private let bytes: Int
        private let budget: BodyBudget

        fileprivate init(_ bytes: Int, of budget: BodyBudget) {
            self.bytes = bytes
            self.budget = budget
        }

        deinit { budget.used.withLock { $0 -= bytes } }
    }

    /// Reserves memory; `nil` if there is not enough.
    func reserve(_ bytes: Int) -> Share? {
        let isReserved = used.withLock { used in
            guard used + bytes <= Self.maximumBytes else { return false }
            used += bytes
            return true
        }
        return isReserved ? Share(bytes, of: self) : nil
    }
}
