import GatewayTesting
import Logging
import Store
import StoreAPI
import Synchronization
import Testing
import Vitals

@testable import Gateway

@Suite struct LossReportTests {
    private let devices = ["band", "ring", "scale"].compactMap { DeviceID($0) }

    private func report(
        _ world: Simulation, _ scratch: ScratchStore, _ opening: StoreOpening, confirm: @escaping @Sendable () -> Void
    ) -> LossReport {
        LossReport(
            store: scratch.store, opening: opening, devices: devices, clock: world.gatewayClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, confirm: confirm)
    }

    /// The devices with a gap, in the order of their gaps.
    private func told(_ scratch: ScratchStore) async throws -> [DeviceID] {
        try await scratch.base.pending(.alert, after: 0, limit: 99).compactMap(\.fact?.device)
    }

    @Test func `the loss of a store is told as soon as the disk has room again, once to each device`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { world in
            let scratch = try ScratchStore(world)
            let confirmed = Mutex(0)
            let report = report(world, scratch, .restored(path: nil)) { confirmed.withLock { $0 += 1 } }
            scratch.script { call, number in
                call == .report && (2...4).contains(number) ? .failure(StoreError(.full, "The disk is full.")) : nil
            }
            let rest = await report.begin()
            #expect(rest == Array(devices.dropFirst()))
            #expect(confirmed.withLock { $0 } == 0)
            let start = world.uptime
            await report.retry(rest)
            #expect(world.uptime - start == LossReport.retryInterval * 3)
            #expect(confirmed.withLock { $0 } == 1)
            #expect(try await told(scratch) == devices)
        }
    }

    @Test(arguments: [StoreOpening.new, .existing])
    func `a store that replaces none has no loss to tell`(opening: StoreOpening) throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { world in
            let scratch = try ScratchStore(world)
            let report = report(world, scratch, opening) { Issue.record("nothing is to be confirmed") }
            let rest = await report.begin()
            #expect(rest.isEmpty)
            await report.retry(rest)
            #expect(try await told(scratch).isEmpty)
        }
    }
}
