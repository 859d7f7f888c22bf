package import GatewayTesting
import Logging
import MQTT
import Synchronization
package import TestSupport

/// The account of a simulation: what happened, when, and to whom.
package final class Trace: Sendable {
    /// An event of the simulation.
    package struct Line: Sendable, Hashable {
        /// The simulated time since the start.
        package var uptime: Duration
        /// The party to which it happened, such as `gateway`, `broker` or `wearable-2`.
        package var party: String
        /// What happened.
        package var event: String
    }

    private let uptime: @Sendable () -> Duration
    private let recorded = Mutex<[Line]>([])

    /// Creates an empty account of a simulation.
    package init(of simulation: Simulation) { uptime = { simulation.uptime } }

    /// Adds an event that happens now.
    func note(_ party: String, _ event: @autoclosure () -> String) {
        let line = Line(uptime: uptime(), party: party, event: event())
        recorded.withLock { $0.append(line) }
    }

    /// The account together with the messages that the broker accepted, in order of time.
    package func lines(with observation: BrokerObservation) -> [Line] {
        let messages = observation.messages.map {
            Line(
                uptime: $0.uptime, party: $0.isWill ? "will" : $0.client ?? "consumer",
                event: "\($0.message.topic) \($0.text)")
        }
        return (recorded.withLock { $0 } + messages).enumerated()
            .sorted { ($0.element.uptime, $0.offset) < ($1.element.uptime, $1.offset) }.map(\.element)
    }

    /// A logger of the gateway that writes here.
    var logger: Logger {
        var logger = Logger(label: "gateway") { _ in
            ForwardingLogHandler { level, message, metadata in
                let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
                self.note("log", "\(level): \(message)\(details)")
            }
        }
        logger.logLevel = .info
        return logger
    }
}
