import Synchronization
import Testing

@testable import TestSupport

/// Waiting for an element of a recorder.
@Suite struct RecorderTests {
    @Test func `finds the first of several that are there already`() async throws {
        let recorder = Recorder<Int>()
        for number in 1...6 { recorder.append(number) }
        #expect(try await recorder.first { $0.isMultiple(of: 2) } == 2)
        #expect(try await recorder.first(from: 2) { $0.isMultiple(of: 2) } == 4)
    }

    @Test func `finds one that comes later, and does not check again what it has seen`() async throws {
        let recorder = Recorder<Int>()
        let checks = Mutex<[Int]>([])
        recorder.append(1)
        let found = Task {
            try await recorder.first { number in
                checks.withLock { $0.append(number) }
                return number == 500
            }
        }
        // The wait has begun once it has checked what is there.
        while checks.withLock({ $0.isEmpty }) { await Task.yield() }
        for number in 2...500 { recorder.append(number) }
        #expect(try await found.value == 500)
        #expect(Set(checks.withLock { $0 }) == Set(1...500))
        // The first one may be seen by both threads.
        #expect(checks.withLock { $0.count } <= 501)
    }

    @Test func `a position beyond the end waits until it is there`() async throws {
        let recorder = Recorder<Int>()
        recorder.append(1)
        let found = Task { try await recorder.first(from: 2) { _ in true } }
        recorder.append(2)
        recorder.append(3)
        #expect(try await found.value == 3)
    }

    @Test func `a cancelled wait ends`() async {
        let recorder = Recorder<Int>()
        let found = Task { try await recorder.first { _ in true } }
        found.cancel()
        await #expect(throws: CancellationError.self) { try await found.value }
    }
}
