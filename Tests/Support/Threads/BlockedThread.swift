import Concurrency
import Dispatch

/// Asks while a thread is blocked, and then lets it go on.
/// - Parameters:
///   - questions: each returns when it was answered.
///   - execute: runs a closure on the thread, without waiting for it.
/// - Returns: how many were answered while the thread was blocked, and how many in the end.
package func countAnswers(
    to questions: [@Sendable () async -> Void], whileBlocked execute: (@escaping @Sendable () -> Void) -> Void
) async throws -> (meanwhile: Int, all: Int) {
    let (isBlocked, gate) = (Promise<Void>(), DispatchSemaphore(value: 0))
    execute {
        isBlocked.fulfil(())
        gate.wait()
    }
    // The thread serves other tests, too: it continues also when this one fails.
    defer { gate.signal() }
    try await isBlocked.wait()
    let answers = Recorder<Void>()
    var meanwhile = 0
    try await withThrowingTaskGroup(of: Void.self) { group in
        for question in questions {
            group.addTask {
                await question()
                answers.append(())
            }
        }
        for _ in 0..<20 { await Task.yield() }
        meanwhile = answers.elements.count
        gate.signal()
        try await group.waitForAll()
    }
    return (meanwhile, answers.elements.count)
}
