import GatewayTesting
import Logging
import Store
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Gateway

@Suite struct LossReportTests {
    private let devices = ["band", "ring", "scale"].compactMap { DeviceID($0) }

    private func report(
        _ simulation: Simulation, _ scratch: ScratchStore, _ opening: StoreOpening,
        confirm: @escaping @Sendable () -> Void
    ) -> LossReport {
        LossReport(
            store: scratch.store, opening: opening, devices: devices, clock: simulation.gatewayClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, confirm: confirm)
    }

    /// The devices with a gap, in the order of their gaps.
    private func reported(_ scratch: ScratchStore) async throws -> [DeviceID] {
        try await scratch.base.pending(.alert, after: 0, limit: 99).compactMap(\.fact?.device)
    }

    @Test func `the loss of a store is reported as soon as the disk has room again, once for each device`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let scratch = try ScratchStore(simulation)
            let confirmed = Mutex(0)
            let report = report(simulation, scratch, .restored(path: nil)) { confirmed.withLock { $0 += 1 } }
            scratch.script { call, number in
                call == .report && (1...3).contains(number) ? .failure(StoreError(.full, "The disk is full.")) : nil
            }
            #expect(await !report.begin())
            #expect(confirmed.withLock { $0 } == 0)
            #expect(try await reported(scratch).isEmpty)
            let start = simulation.uptime
            await report.retry()
            #expect(simulation.uptime - start == LossReport.retryInterval * 3)
            #expect(confirmed.withLock { $0 } == 1)
            #expect(try await reported(scratch) == devices)
        }
    }

    @Test(arguments: [StoreOpening.new, .existing])
    func `a store that replaces none has no loss to report`(opening: StoreOpening) throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let scratch = try ScratchStore(simulation)
            let report = report(simulation, scratch, opening) { Issue.record("nothing is to be confirmed") }
            #expect(await report.begin())
            #expect(try await reported(scratch).isEmpty)
        }
    }

    @Test func `the loss is reported for ten thousand devices in one commit`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let commits = Recorder<Int>()
            let scratch = try ScratchStore(simulation) { commits.append($0.count) }
            let many = (0..<10_000).compactMap { DeviceID("band-\($0)") }
            let report = LossReport(
                store: scratch.store, opening: .restored(path: nil), devices: many, clock: simulation.gatewayClock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, confirm: {})
            #expect(await report.begin())
            #expect(commits.elements == [many.count])
            #expect(try await scratch.base.statistics().pending[.alert] == many.count)
        }
    }
}
