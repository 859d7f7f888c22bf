import Concurrency
import Delivery
import GatewayKit
import Vitals

extension GatewayCore {
    /// The parts of the gateway, with the ways to ask them. `connection` asks the broker's network thread, `writer` the
    /// store's.
    package func probes(
        connection: @escaping @Sendable () async -> Void, writer: @escaping @Sendable () async -> Void
    ) -> [HealthProbe] {
        [
            HealthProbe(.storeWriter, ask: writer), HealthProbe(.brokerNetwork, ask: connection),
            HealthProbe(.delivery) { await self.status.answer(hasWork: self.hasWork) },
            HealthProbe(.devices) { await self.supervisor.answer() },
            HealthProbe(.timers) { try? await self.settings.clock.sleep(for: .milliseconds(100)) },
            HealthProbe(.configuration) {
                await self.reading.answer()
                await self.applying.answer()
            },
        ]
    }

    /// Whether something could be sent now.
    private var hasWork: Bool { outbox.hasWork || (outbox.hasRoom && retained.hasWork) }

    /// What a watch of these parts needs.
    package var healthReport: HealthReport {
        HealthReport(
            hasBegun: { self.hasBegun.value != nil }, late: { self.parts(late: $0) },
            status: { late in
                let broker = self.status.snapshot.isConnected ? "The broker is connected." : "The broker is away."
                return late.isEmpty ? broker : "\(broker) Late: \(late.map(\.rawValue).joined(separator: ", "))."
            })
    }
}
