import GatewayKit
import Testing

@testable import Link

@Suite(.timeLimit(.minutes(1))) struct PendingCallsTests {
    @Test func `keeps an answer that comes before its caller waits`() async throws {
        let calls = PendingCalls()
        let id = try calls.open()
        calls.complete(id, .success([1]))
        calls.complete(id, .success([2]))
        calls.end(DeviceError(.disconnected, "gone"))
        #expect(try await calls.answer(to: id) == [1])
        #expect(calls.count == 0)
    }

    @Test func `fails all that waits at the end, and all that comes later`() async throws {
        let calls = PendingCalls()
        let end = DeviceError(.disconnected, "gone")
        let id = try calls.open()
        async let answer = failure { try await calls.answer(to: id) }
        calls.end(end)
        calls.end(DeviceError(.failure, "a second end counts for nothing"))
        #expect(await answer == end)
        #expect(throws: end) { _ = try calls.open() }
        #expect(calls.count == 0)
    }

    @Test func `forgets a call that is given up`() async throws {
        let calls = PendingCalls()
        let id = try calls.open()
        calls.close(id)
        calls.complete(id, .success([]))
        #expect(calls.count == 0)
        await #expect(throws: DeviceError.self) { _ = try await calls.answer(to: id) }
    }

    @Test func `forgets a call whose task is cancelled at any moment`() async throws {
        let calls = PendingCalls()
        for _ in 0..<500 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: DeviceError.self) { _ = try await calls.answer(to: try calls.open()) }
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        #expect(calls.count == 0)
    }
}
