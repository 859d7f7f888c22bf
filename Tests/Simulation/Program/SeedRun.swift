import Dispatch
import Foundation
import GatewaySimulation
import Synchronization

/// Many seeds, several at once.
final class SeedRun: Sendable {
    private struct State {
        /// The seeds that no run has begun for.
        var left: Range<UInt64>
        var done = 0
        var messages = 0
        var restarts = 0
        var failed: [UInt64] = []
    }

    /// Seeds between two lines of progress.
    private static let step = 500

    private let seeds: Range<UInt64>
    private let runsTwice: Bool
    /// When no further run begins.
    private let deadline: ContinuousClock.Instant?
    private let state: Mutex<State>

    /// Runs many seeds. With `within`, no run begins after that time.
    init(seeds: Range<UInt64>, runsTwice: Bool, within: Duration? = nil) {
        self.seeds = seeds
        self.runsTwice = runsTwice
        deadline = within.map { .now + $0 }
        state = Mutex(State(left: seeds))
    }

    /// Runs the seeds. Prints each that fails, how many did, and how many had no time. Returns whether none failed.
    func run(jobs: Int) -> Bool {
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: jobs) { _ in
            while let seed = next() { run(seed) }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return state.withLock { state in
            let rate = String(format: "%.1f", Double(state.done) / seconds)
            print("\(state.messages) messages, \(state.restarts) restarts; \(rate) seeds a second")
            print("\(state.done - state.failed.count) passed, \(state.failed.count) failed")
            let left = state.left
            if !left.isEmpty {
                print("\(left.length) of \(seeds.length) seeds had no time; go on with --first \(left.lowerBound)")
            }
            return state.failed.isEmpty
        }
    }

    /// How many seeds have no run yet.
    var left: UInt64 { state.withLock { $0.left.length } }

    private func next() -> UInt64? {
        state.withLock { state in
            guard deadline.map({ .now < $0 }) ?? true else { return nil }
            return state.left.popFirst()
        }
    }

    private func run(_ seed: UInt64) {
        var issues: [String]
        var result: SeededRun?
        do {
            let first = try SeededRun.run(seed: seed)
            issues = first.issues
            result = first
            if runsTwice, try SeededRun.run(seed: seed) != first {
                issues.append("its second run differs")
            }
        } catch {
            issues = ["\(error)"]
        }
        state.withLock { state in
            state.done += 1
            state.messages += result?.messages ?? 0
            state.restarts += result?.restarts ?? 0
            if !issues.isEmpty {
                state.failed.append(seed)
                print("seed \(seed): \(issues.prefix(5).joined(separator: "; "))")
                print("  what happened: Tests/Simulation/run --seed \(seed)")
            }
            if state.done.isMultiple(of: Self.step) { print("\(state.done) seeds") }
        }
    }
}

extension Range<UInt64> {
    /// How many numbers it has; `count`, which is an `Int`, traps on more than that holds.
    fileprivate var length: UInt64 { upperBound - lowerBound }
}
