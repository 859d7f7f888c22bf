/// A part of the gateway that must keep answering for the gateway to do its work.
package enum HealthPart: String, Sendable, Hashable, CaseIterable {
    /// Commits what devices measured.
    case storeWriter = "store_writer"
    /// Moves the packets of the connection with the broker.
    case brokerNetwork = "broker_network"
    /// Sends what waits for the broker, and takes commands from it.
    case delivery
    /// The devices' engines, on the threads that all tasks share.
    case devices
    /// Wakes what waits for a time.
    case timers
    /// Reads a changed configuration.
    case configuration
}
