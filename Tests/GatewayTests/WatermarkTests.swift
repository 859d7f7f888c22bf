import Contract
import Engines
import GatewayKit
import GatewayTesting
import Logging
import Testing
import Vitals

@testable import Gateway

/// Up to where the broker has everything is kept, also by a store that fails for a while.
@Suite struct WatermarkTests {
    @Test func `what the broker has does not count as unsent for ever because the disk was full once`() throws {
        try Simulation.run(seed: 1, start: Timestamp(seconds: 1_795_262_400), deadline: .hours(1)) { world in
            let gateway = try #require(DeviceID("home"))
            let settings = CoreSettings(
                gateway: gateway.text, version: "0", topics: ContractTopics(gateway: gateway),
                calendar: try #require(LocalCalendar(identifier: "UTC")), clock: world.gatewayClock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let store = InMemoryStore()
            let gap = Gap(metric: nil, from: nil, to: nil, count: nil, reason: .device, at: settings.clock.now)
            try await store.report(gap, of: gateway)
            let faulty = FaultyStore(store) { call, number in
                call == .acknowledge && number <= 3 ? .failure(StoreError(.full, "The disk is full.")) : nil
            }
            let delivery = Delivery()
            let publisher = Publisher(
                outbox: delivery.outbox, board: StateBoard(wakeup: delivery.wakeup), status: BrokerStatus(),
                store: faulty, wire: WireEncoder(settings: settings, discovery: .off), wakeup: delivery.wakeup,
                settings: settings)
            delivery.outbox.connect(window: 9)
            while case .page(let lane, let after) = delivery.outbox.next() {
                if lane == .answer {
                    delivery.outbox.paged([])
                } else {
                    delivery.outbox.paged(lane, try await store.pending(lane, after: after, limit: 9))
                }
            }
            delivery.outbox.acknowledged([.lane(.history, 1)])
            let due = Wakeup()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await publisher.keepWatermarks(due) }
                due.wake()
                try await settings.clock.sleep(for: .seconds(30))
                #expect(try await store.statistics().pending[.history, default: 0] == 0)
                group.cancelAll()
            }
        }
    }
}
