package import Contract
package import Delivery
package import GatewayKit
package import Logging
package import Recordings
package import Vitals

/// The settings that the gateway's parts share.
package struct CoreSettings: Sendable {
    package var gateway: String
    package var version: String
    package var topics: ContractTopics
    package var calendar: LocalCalendar
    package var clock: GatewayClock
    /// How long live samples wait for others, so that they share a commit; zero to store each at once.
    package var batchWindow: Duration
    package var logger: Logger
    /// Notes what runs, for a stop that takes too long.
    package var running: RunningParts
    /// The parts that come and go, for the watchdog.
    package let passing = PassingParts()
    /// The open services of plugins.
    package var services: RunningServices
    /// What scans for devices in reach.
    package let scanners = Scanners()
    /// The devices that may post to the gateway's own listener.
    package let senders = ExpectedSenders()
    /// The topics of devices whose documents come as messages.
    package var documents = DocumentTopics()
    /// Records the devices' links; `nil` if they are not recorded.
    package var recorder: LinkRecorder?

    package init(
        gateway: String, version: String, topics: ContractTopics, calendar: LocalCalendar, clock: GatewayClock,
        batchWindow: Duration = .zero, logger: Logger, running: RunningParts = RunningParts(),
        services: RunningServices = RunningServices(), recorder: LinkRecorder? = nil
    ) {
        self.recorder = recorder
        self.gateway = gateway
        self.version = version
        self.topics = topics
        self.calendar = calendar
        self.clock = clock
        self.batchWindow = batchWindow
        self.logger = logger
        self.running = running
        self.services = services
    }

    /// The settings for delivery.
    var delivery: DeliverySettings {
        DeliverySettings(topics: topics, calendar: calendar, clock: clock, logger: logger)
    }
}
