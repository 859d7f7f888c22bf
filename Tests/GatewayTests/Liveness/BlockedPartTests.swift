import Concurrency
import Contract
import Dispatch
import Engines
import Foundation
import GatewayKit
import GatewayTesting
import Store
import TestSupport
import Testing
import Vitals

@testable import Gateway

/// Parts whose real thread is blocked are named by the watch, until the thread continues.
///
/// One at a time: on two cores the shared pool has two threads, and a blocked one leaves only one for everything else.
@Suite(.serialized, .timeLimit(.minutes(1))) struct BlockedPartTests {
    /// Watches a part while `block` has its thread blocked, and checks what the watch says before, meanwhile and after.
    private func check(
        _ part: LivenessPart, _ probes: [LivenessProbe], passing: PassingParts = PassingParts(),
        block: @Sendable () async throws -> Void, unblock: @Sendable () -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)").path
        try await withNotifySocket(at: path) { socket in
            let late = Recorder<[LivenessPart]>()
            let report = LivenessReport(
                hasBegun: { true }, late: { late.append($0) },
                status: { $0.isEmpty ? "Well." : "Late: \($0.map(\.name))." })
            // Checks ten times a second.
            let environment = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"]
            let notifier: ServiceNotifier = try #require(ServiceNotifier(environment: environment))
            let watch = Watchdog(
                probes, passing: passing, notifier: notifier, report: report, logger: LogRecorder().logger)
            try await withThrowingTaskGroup { group in
                // A thread that stays blocked would be missing in the shared pool, also when the test fails.
                defer { unblock() }
                group.addTask { await watch.run() }
                try await socket.messages.wait { $0.contains("READY=1") && $0.contains("WATCHDOG=1") }
                #expect(late.elements.isEmpty)
                try await block()
                try await late.wait { !$0.isEmpty }
                #expect(late.elements.first == [part])
                #expect(watch.late == [part])
                let signs = socket.signs
                if part.isOptional {
                    try await socket.messages.wait { $0.count { $0 == "WATCHDOG=1" } > signs + 1 }
                }
                unblock()
                try await late.wait { $0.count > 1 }
                // On a busy machine it may be late again at once.
                #expect(late.elements.dropFirst().first == [])
                try await socket.messages.wait { $0.count { $0 == "WATCHDOG=1" } > signs }
                group.cancelAll()
            }
        }
    }

    /// A limit that a thread which is not blocked keeps also on a busy machine.
    private static let limit: Duration = .seconds(2)

    @Test func `a device whose engine blocks its thread makes the devices late`() async throws {
        let place = BlockedThread()
        let scratch = try ScratchStore()
        let home = try #require(DeviceID("home"))
        let band = try #require(DeviceID("band"))
        let settings = CoreSettings(
            gateway: home.text, version: "0", topics: ContractTopics(gateway: home),
            calendar: LocalCalendar(timeZone: .gmt), clock: .system, logger: LogRecorder().logger)
        let begun = Promise<Void>()
        let presence = DevicePresence()
        let output = DeviceOutput(
            state: { _, state in
                if case .link(let link) = state, link.phase == .waiting { begun.fulfil(()) }
                place.pass()
            }, answer: { _, _ in })
        let supervisor = DeviceSupervisor(
            store: scratch.store, output: output, settings: settings, generator: SystemRandomNumberGenerator())
        let setup = DeviceSetup(
            info: DeviceInfo(id: band, name: "band", driver: "absent"),
            policy: DevicePolicy(calendar: settings.calendar), fingerprint: 0, presence: presence
        ) { _ in throw LinkError(.unreachable, "It is not there.") }
        try await withThrowingTaskGroup { group in
            group.addTask { await supervisor.run() }
            _ = await supervisor.apply([setup])
            try await begun.wait()
            try await check(.devices, [LivenessProbe(.devices, limit: Self.limit) { await supervisor.answer() }]) {
                place.close()
                // The next attempt publishes the link, a second later at most; it blocks there.
                presence.sawDevice()
                try await place.isReached.wait()
            } unblock: {
                place.open()
            }
            await supervisor.stop()
            group.cancelAll()
        }
    }

    @Test(arguments: [LivenessPart.storeReader, .storeWriter])
    func `a call that hangs makes that side of the store late, and not the other one`(part: LivenessPart) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "health-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (reading, writing) = (QueueExecutor(label: "store.reader"), QueueExecutor(label: "store.writer"))
        let store = try SQLiteStore(
            path: folder.appending(path: "vitals.sqlite").path, executor: writing,
            reading: reading, now: Simulation.defaultStart, newIdentity: SampleID(high: 1, low: 1))
        let (place, actor) = (BlockedThread(), BlockingActor(on: part == .storeReader ? reading : writing))
        let probes = [
            LivenessProbe(.storeReader, limit: Self.limit) { await store.answerOfReader() },
            LivenessProbe(.storeWriter, limit: Self.limit) { _ = await store.commitCount },
        ]
        let begin = Promise<Void>()
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await begin.wait()
                await actor.pass(place)
            }
            try await check(part, probes) {
                place.close()
                begin.fulfil(())
                try await place.isReached.wait()
            } unblock: {
                place.open()
            }
            try await group.waitForAll()
        }
        try await store.close()
    }

    @Test func `a timer that blocks its thread makes the timers late`() async throws {
        let place = BlockedThread()
        let timers = Timers(clock: .system)
        try await withThrowingTaskGroup { group in
            group.addTask { await timers.run() }
            try await check(.timers, [LivenessProbe(.timers, limit: Self.limit) { await timers.answer() }]) {
                place.close()
                _ = timers.set(after: .zero) { place.pass() }
                try await place.isReached.wait()
            } unblock: {
                place.open()
            }
            group.cancelAll()
        }
        #expect(timers.count == 0)
    }

    @Test(arguments: [LivenessPart.plugin("radio"), .statistics])
    func `a blocked thread of a plugin or of the import makes that part late, and ends no sign of life`(
        part: LivenessPart
    ) async throws {
        let passing = PassingParts()
        let queue = DispatchQueue(label: "radio")
        let place = BlockedThread()
        let probe = LivenessProbe(part, limit: Self.limit) {
            let turn = Promise<Void>()
            queue.async { turn.fulfil(()) }
            try? await turn.wait()
        }
        try await passing.during(probe) {
            try await check(part, [LivenessProbe(.timers) {}], passing: passing) {
                place.close()
                queue.async { place.pass() }
                try await place.isReached.wait()
            } unblock: {
                place.open()
            }
        }
        #expect(passing.probes.isEmpty)
    }
}
