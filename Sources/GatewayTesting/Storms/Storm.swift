import Dispatch
import Foundation

/// Runs operations simultaneously on real threads, many times, to find faults that a single-threaded simulation cannot:
/// locks taken in two orders, tasks that are never woken.
public enum Storm {
    /// The default number of rounds, or `STORM_ROUNDS`: fewer if a sanitizer makes each round many times slower.
    public static let rounds = ProcessInfo.processInfo.environment["STORM_ROUNDS"].flatMap { Int($0) } ?? 100_000

    /// Runs `rounds` rounds. A round returns the operations to run simultaneously, and ends when all of them have
    /// ended.
    ///
    /// Deadlocked threads cannot be cancelled, and may include the test's own. So a storm that exceeds `limit` of real
    /// time reports this on standard error and ends the process.
    public static func run(
        _ name: String, rounds: Int = Storm.rounds, limit: Duration = .seconds(240),
        _ round: @Sendable (_ number: Int) async -> [@Sendable () async -> Void]
    ) async {
        let watch = StallWatch(name, limit: limit)
        defer { watch.end() }
        for number in 0..<rounds {
            let contenders = await round(number)
            await withDiscardingTaskGroup { group in
                for contender in contenders { group.addTask { await contender() } }
            }
        }
    }
}

/// Ends the process if a test stalls.
public final class StallWatch: Sendable {
    private let isOver = DispatchSemaphore(value: 0)

    /// Starts a watch over the test `name`, which must end within `limit` of real time.
    public init(_ name: String, limit: Duration) {
        let isOver = isOver
        // Uses its own thread, which must keep running while all of Swift's threads wait.
        Thread.detachNewThread {
            guard isOver.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1)))) == .timedOut else {
                return
            }
            FileHandle.standardError.write(Data("\(name) is stuck: it was not over within \(limit).\n".utf8))
            abort()
        }
    }

    /// Ends the watch: the test did not stall.
    public func end() { isOver.signal() }
}
