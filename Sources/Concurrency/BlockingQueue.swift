/// Runs calls that block, such as reading files, one after the other on their own queue, so that they never hold a
/// thread of Swift's shared pool.
package actor BlockingQueue {
    private let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a queue of this name, which debuggers show.
    package init(label: String) { executor = QueueExecutor(label: label) }

    /// Runs `body` when the calls before it have ended.
    package func run<Value: Sendable>(_ body: @Sendable () throws -> Value) throws -> Value { try body() }
}
