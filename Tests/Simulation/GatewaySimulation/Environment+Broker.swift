import GatewayTesting
import MQTT
import Synchronization
import TestSupport
import Vitals

/// The faults of the simulated broker.
extension Environment {
    /// Disturbs the connections until the peace.
    func troubleBroker() async throws {
        broker.setFaults(
            BrokerFaults(
                refuseConnection: 0.1, cutBeforeStoring: 0.005, cutBeforeAcknowledging: 0.01, duplicateDelivery: 0.05,
                delay: .zero ... .milliseconds(300)))
        while !isPeaceful.withLock({ $0 }) {
            try await simulation.gatewayClock.sleep(for: draw(5...90))
            guard !isPeaceful.withLock({ $0 }) else { return }
            switch drawNumber(0...3) {
            case 0:
                trace?.note("broker", "cuts all connections")
                broker.cut()
            case 1:
                trace?.note("broker", "is offline")
                broker.refuseConnections(BrokerError(.unreachable, "The broker is offline."))
                broker.cut()
                try await simulation.gatewayClock.sleep(for: draw(5...120))
                if !isPeaceful.withLock({ $0 }) { broker.refuseConnections(nil) }
                trace?.note("broker", "is back")
            case 2:
                trace?.note("broker", "acknowledges nothing")
                broker.hold()
                try await simulation.gatewayClock.sleep(for: draw(1...20))
                broker.release()
                trace?.note("broker", "acknowledges again")
            default: break
            }
        }
        broker.refuseConnections(nil)
    }

    /// Lets the broker not take some messages for a while, again and again until the peace.
    func refuseMessages() async throws {
        while !isPeaceful.withLock({ $0 }) {
            try await simulation.gatewayClock.sleep(for: draw(10...120))
            guard !isPeaceful.withLock({ $0 }) else { return }
            let refusal = random.withLock { MessageRefusal.random(wearables.map(\.id), version: version, using: &$0) }
            trace?.note("broker", refusal.description)
            refusal.begin(broker)
            try await simulation.gatewayClock.sleep(for: draw(10...150))
            guard !isPeaceful.withLock({ $0 }) else { return }
            takeEverything()
        }
    }

    /// Ends what `refuseMessages` began, as a broker that starts again with other settings.
    func takeEverything() {
        trace?.note("broker", "starts again, and takes everything")
        MessageRefusal.end(broker)
        broker.cut()
    }
}
