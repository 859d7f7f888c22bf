package import Contract
package import Logging
package import Vitals

/// Settings shared by all parts of delivery.
package struct DeliverySettings: Sendable {
    package var topics: ContractTopics
    package var calendar: LocalCalendar
    package var clock: GatewayClock
    package var logger: Logger

    package init(topics: ContractTopics, calendar: LocalCalendar, clock: GatewayClock, logger: Logger) {
        self.topics = topics
        self.calendar = calendar
        self.clock = clock
        self.logger = logger
    }
}
