import Foundation
import Gateway
import TestSupport
import Testing
import Vitals

@Suite(.timeLimit(.minutes(1))) struct StartNoticeTests {
    private static let request = "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=Opening the store."

    private func withNotifier<Result>(
        _ body: (NotifySocket, ServiceNotifier) async throws -> Result
    ) async throws -> Result {
        let path = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)").path
        return try await withNotifySocket(at: path) { socket in
            try await body(socket, try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": path])))
        }
    }

    @Test func `the service manager is asked for time as long as the store is opened, and not after`() async throws {
        try await withNotifier { socket, notifier in
            let result = try await StartNotice.during(notifier, interval: .milliseconds(2)) {
                try await socket.messages.wait { $0.count > 3 }
                return 7
            }
            #expect(result == 7)
            notifier.send("READY=1")
            try await socket.messages.wait { $0.contains("READY=1") }
            #expect(socket.messages.elements.last == "READY=1")
            #expect(socket.messages.elements.dropLast().allSatisfy { $0 == Self.request })
        }
    }

    @Test func `an opening that hangs gets no more time in the end`() async throws {
        #expect(StartNotice.longest / StartNotice.interval == 2_160)
        try await withNotifier { socket, notifier in
            await StartNotice.during(notifier, interval: .zero, requests: 3) {
                // The thread goes round a great many times meanwhile.
                for _ in 0..<10_000 { await Task.yield() }
            }
            notifier.send("READY=1")
            try await socket.messages.wait { $0.contains("READY=1") }
            #expect(socket.messages.elements.count { $0 == Self.request } <= 3)
        }
    }

    @Test func `nobody is asked where there is no service manager`() async throws {
        let result = await StartNotice.during(nil) { 7 }
        #expect(result == 7)
    }

    @Test func `an opening that fails ends the requests, too`() async throws {
        struct Failure: Error {}
        try await withNotifier { socket, notifier in
            await #expect(throws: Failure.self) {
                try await StartNotice.during(notifier, interval: .milliseconds(1)) { () async throws -> Void in
                    throw Failure()
                }
            }
            notifier.send("READY=1")
            try await socket.messages.wait { $0.contains("READY=1") }
            #expect(socket.messages.elements.last == "READY=1")
        }
    }
}
