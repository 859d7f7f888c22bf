import Concurrency
import Delivery
import GatewayKit
import Vitals

extension GatewayCore {
    /// The parts of the gateway, with the ways to ask them. `connection` asks the broker's network thread, `writer` the
    /// store's, and `reader` that of its reader.
    package func probes(
        connection: @escaping @Sendable () async -> Void, writer: @escaping @Sendable () async -> Void,
        reader: @escaping @Sendable () async -> Void
    ) -> [LivenessProbe] {
        [
            LivenessProbe(.storeWriter, ask: writer), LivenessProbe(.storeReader, ask: reader),
            LivenessProbe(.brokerNetwork, ask: connection),
            LivenessProbe(.delivery) {
                await self.status.answer(hasWork: self.hasWork)
                await self.status.attempts.answer(at: self.settings.clock.uptime)
            },
            LivenessProbe(.refusedFacts) { await self.status.quarantine.answer() },
            LivenessProbe(.commands) { await self.commandQueue.answer() },
            LivenessProbe(.devices) { await self.supervisor.answer() },
            LivenessProbe(.timers) {
                try? await self.settings.clock.sleep(for: .milliseconds(100))
                await self.supervisor.answerOfTimers()
            },
            LivenessProbe(.configuration) { await self.reading.answer() },
            LivenessProbe(.upkeep) {
                await self.cleaning.answer(at: self.settings.clock.uptime)
                await self.reporting.answer(at: self.settings.clock.uptime)
            },
        ]
    }

    /// The parts that come and go.
    package var passing: PassingParts { settings.passing }

    /// Whether something could be sent now.
    private var hasWork: Bool { outbox.hasWork || (outbox.hasRoom && retained.hasWork) }

    /// What a watch of these parts needs.
    package var livenessReport: LivenessReport {
        LivenessReport(
            hasBegun: { self.hasBegun.value != nil }, late: { self.parts(late: $0) },
            status: { late in
                let broker = self.status.snapshot.isConnected ? "The broker is connected." : "The broker is offline."
                let names = late.prefix(Self.lateInStatus).map(\.name).joined(separator: ", ")
                let more = late.count > Self.lateInStatus ? " and \(late.count - Self.lateInStatus) more" : ""
                return late.isEmpty ? broker : "\(broker) Late: \(names)\(more)."
            })
    }

    /// How many late parts the line for the service manager names.
    static let lateInStatus = 10
    /// How many late parts `gateway/state` names: of thousands of devices that hang together, some are enough.
    package static let maximumLate = 100
}
