import Concurrency
import Foundation
import Gateway
import Synchronization
import TestSupport
import Testing
import Vitals

@Suite(.timeLimit(.minutes(1))) struct WatchdogTests {
    /// A part that can hang.
    private final class Part: Sendable {
        private let gate = Mutex<Promise<Void>?>(nil)
        func hang() { gate.withLock { $0 = Promise() } }
        func goOn() {
            let promise = gate.withLock { $0.take() }
            promise?.fulfil(())
        }
        func answer() async { await gate.withLock { $0 }?.waitUncancelled() }
    }

    private func path() -> String {
        FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)").path
    }

    private func notifier(_ socket: NotifySocket, watchdog: Duration? = .milliseconds(400)) throws -> ServiceNotifier {
        var environment = ["NOTIFY_SOCKET": socket.address]
        if let watchdog { environment["WATCHDOG_USEC"] = "\(watchdog / .microseconds(1))".replacing(".0", with: "") }
        return try #require(ServiceNotifier(environment: environment))
    }

    @Test func `a part that hangs ends the signs of life, and its answer begins them again`() async throws {
        try await withNotifySocket(at: path()) { socket in
            let part = Part()
            let late = Recorder<[LivenessPart]>()
            let checks = Recorder<Void>()
            let log = LogRecorder()
            let report = LivenessReport(
                hasBegun: { true }, late: { late.append($0) },
                status: { parts in
                    checks.append(())
                    return parts.isEmpty ? "Well." : "Late: \(parts.map(\.name))."
                })
            let watch = Watchdog(
                [
                    LivenessProbe(.devices, limit: .seconds(3)) { await part.answer() },
                    LivenessProbe(.timers) {},
                ], notifier: try notifier(socket), report: report, logger: log.logger)
            try await withThrowingTaskGroup { group in
                // The watch waits for a part that hangs, also when the test fails.
                defer { part.goOn() }
                group.addTask { await watch.run() }
                try await socket.messages.wait { $0.contains("READY=1") && $0.contains("STATUS=Well.") }
                try await socket.messages.wait { $0.count { $0 == "WATCHDOG=1" } > 2 }
                part.hang()
                try await late.wait { !$0.isEmpty }
                #expect(late.elements == [[.devices]])
                #expect(watch.late == [.devices])
                // Without a free thread the other part waits, too.
                #expect(watch.waiting(longerThan: .seconds(2))?.contains(.devices) == true)
                #expect(watch.waiting(longerThan: .seconds(60)) == [])
                try await socket.messages.wait { $0.contains("STATUS=Late: [\"devices\"].") }
                #expect(log.entries.map { $0.metadata["liveness.part"] } == ["devices"])
                let signs = socket.signs
                let count = checks.elements.count
                try await checks.wait { $0.count > count + 4 }
                #expect(socket.signs == signs)
                part.goOn()
                try await late.wait { $0.count > 1 }
                #expect(late.elements.last == [])
                try await socket.messages.wait { $0.count { $0 == "WATCHDOG=1" } > signs }
                watch.stopping()
                try await socket.messages.wait { $0.contains("STOPPING=1\nSTATUS=Stopping.") }
                group.cancelAll()
            }
            #expect(socket.messages.elements.count { $0 == "READY=1" } == 1)
        }
    }

    @Test func `is ready only when every part has answered and the gateway has begun`() async throws {
        try await withNotifySocket(at: "@vitals2mqtt-\(UUID().uuidString)") { socket in
            let part = Part()
            part.hang()
            let hasBegun = Mutex(false)
            let checks = Recorder<Void>()
            let report = LivenessReport(
                hasBegun: { hasBegun.withLock { $0 } }, late: { _ in },
                status: { _ in
                    checks.append(())
                    return "Well."
                })
            let watch = Watchdog(
                [LivenessProbe(.delivery) { await part.answer() }], notifier: try notifier(socket, watchdog: nil),
                report: report, logger: LogRecorder().logger)
            try await withThrowingTaskGroup { group in
                // The watch waits for a part that hangs, also when the test fails.
                defer { part.goOn() }
                group.addTask { await watch.run() }
                try await checks.wait { $0.count > 2 }
                #expect(!socket.messages.elements.contains("READY=1"))
                part.goOn()
                try await checks.wait { $0.count > 8 }
                #expect(!socket.messages.elements.contains("READY=1"))
                hasBegun.withLock { $0 = true }
                try await socket.messages.wait { $0.contains("READY=1") }
                group.cancelAll()
            }
            #expect(socket.signs == 0)
        }
    }

    @Test func `what a busy service manager does not take is sent again`() async throws {
        try await withNotifySocket(at: path()) { socket in
            let checks = Recorder<Void>()
            let report = LivenessReport(
                hasBegun: { true }, late: { _ in },
                status: { _ in
                    checks.append(())
                    return "Well."
                })
            let notifier = try notifier(socket)
            let watch = Watchdog(
                [LivenessProbe(.timers) {}], notifier: notifier, report: report, logger: LogRecorder().logger)
            try await withThrowingTaskGroup { group in
                try await socket.withoutReading {
                    while notifier.send("of another service") {}
                    group.addTask { await watch.run() }
                    try await checks.wait { $0.count > 4 }
                }
                try await socket.messages.wait {
                    $0.contains("READY=1") && $0.contains("STATUS=Well.") && $0.contains("WATCHDOG=1")
                }
                await socket.withoutReading {
                    while notifier.send("of another service") {}
                    watch.stopping()
                }
                try await socket.messages.wait { $0.contains("STOPPING=1\nSTATUS=Stopping.") }
                group.cancelAll()
            }
            #expect(socket.messages.elements.count { $0 == "READY=1" } == 1)
            #expect(socket.messages.elements.count { $0.hasPrefix("STOPPING=1") } == 1)
        }
    }

    @Test(arguments: ["", "relative", "/", "@", "/" + String(repeating: "x", count: 107)])
    func `takes no address that is none`(address: String) {
        #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": address]) == nil)
        #expect(ServiceNotifier(environment: [:]) == nil)
    }

    @Test func `a watchdog of another process is none, and nobody who listens is no error`() throws {
        let environment = ["NOTIFY_SOCKET": "/nowhere/notify", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7"]
        let notifier = try #require(ServiceNotifier(environment: environment, process: 8))
        #expect(notifier.watchdog == nil)
        #expect(!notifier.send("READY=1"))
        #expect(ServiceNotifier(environment: environment, process: 7)?.watchdog == .seconds(2))
    }
}
