import Dispatch
import Foundation
import GatewaySimulation
import Synchronization

/// Many seeds, several at once.
final class SeedRun: Sendable {
    private struct State {
        var next: UInt64
        var lived = 0
        var messages = 0
        var restarts = 0
        var failed: [UInt64] = []
    }

    /// Seeds between two lines of progress.
    private static let step = 500

    private let seeds: Range<UInt64>
    private let livesTwice: Bool
    /// When no further life begins.
    private let deadline: ContinuousClock.Instant?
    private let state: Mutex<State>

    /// A run of seeds. With `within`, no life begins after that time.
    init(seeds: Range<UInt64>, livesTwice: Bool, within: Duration? = nil) {
        self.seeds = seeds
        self.livesTwice = livesTwice
        deadline = within.map { .now + $0 }
        state = Mutex(State(next: seeds.lowerBound))
    }

    /// Lives the seeds. Prints each that fails, how many did, and how many had no time. Returns whether none failed.
    func run(jobs: Int) -> Bool {
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: jobs) { _ in
            while let seed = next() { live(seed) }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return state.withLock { state in
            let rate = String(format: "%.1f", Double(state.lived) / seconds)
            print("\(state.messages) messages, \(state.restarts) restarts; \(rate) seeds a second")
            print("\(state.lived - state.failed.count) passed, \(state.failed.count) failed")
            let left = seeds.upperBound - state.next
            if left > 0 {
                print("\(left) of \(seeds.count) seeds had no time; go on with --first \(state.next)")
            }
            return state.failed.isEmpty
        }
    }

    /// How many seeds have no life yet.
    var left: UInt64 { state.withLock { seeds.upperBound - $0.next } }

    private func next() -> UInt64? {
        state.withLock { state in
            guard state.next < seeds.upperBound, deadline.map({ .now < $0 }) ?? true else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func live(_ seed: UInt64) {
        var mistakes: [String]
        var life: SeededLife?
        do {
            let first = try SeededLife.live(seed: seed)
            mistakes = first.mistakes
            life = first
            if livesTwice, try SeededLife.live(seed: seed) != first {
                mistakes.append("its second life is another one")
            }
        } catch {
            mistakes = ["\(error)"]
        }
        state.withLock { state in
            state.lived += 1
            state.messages += life?.messages ?? 0
            state.restarts += life?.restarts ?? 0
            if !mistakes.isEmpty {
                state.failed.append(seed)
                print("seed \(seed): \(mistakes.prefix(5).joined(separator: "; "))")
                print("  what happened: deploy/simulate --seed \(seed)")
            }
            if state.lived.isMultiple(of: Self.step) { print("\(state.lived) seeds") }
        }
    }
}
