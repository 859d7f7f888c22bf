import Concurrency
import Dispatch
import TestSupport
import Testing

@testable import BlueZ

/// Whether a thread of the bus that serves no device any more can be seen.
@Suite(.timeLimit(.minutes(1))) struct BusLoopTests {
    /// Blocks the thread that it runs on.
    private actor Blocker {
        let loop: BusLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(_ loop: BusLoop) { self.loop = loop }

        func block(_ isBlocked: Promise<Void>, _ gate: DispatchSemaphore) {
            isBlocked.fulfil(())
            gate.wait()
        }
    }

    @Test func `a blocked thread does not answer until it goes on, and a cancelled question ends`() async throws {
        let loop = BusLoop(label: "bus-loop-tests")
        await loop.answer()
        let (isBlocked, gate) = (Promise<Void>(), DispatchSemaphore(value: 0))
        let answers = Recorder<Void>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The thread continues also when this test fails.
            defer { gate.signal() }
            group.addTask { await Blocker(loop).block(isBlocked, gate) }
            try await isBlocked.wait()
            let cancelled = Task { await loop.answer() }
            cancelled.cancel()
            await cancelled.value
            group.addTask {
                await loop.answer()
                answers.append(())
            }
            for _ in 0..<20 { await Task.yield() }
            #expect(answers.elements.isEmpty)
            gate.signal()
            try await group.waitForAll()
        }
        #expect(answers.elements.count == 1)
    }
}
