import Synchronization

/// The names of what runs at the moment, so that a stop that takes too long can say what holds it up.
package final class RunningParts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    package init() {}

    /// The names, sorted.
    package var names: [String] { counts.withLock { $0.keys.sorted() } }

    /// Lists `name` until `body` ends.
    package func during<Result, Failure: Error>(
        _ name: String, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        counts.withLock { $0[name, default: 0] += 1 }
        defer {
            counts.withLock { counts in
                let count = counts[name] ?? 1
                counts[name] = count > 1 ? count - 1 : nil
            }
        }
        return try await body()
    }
}
