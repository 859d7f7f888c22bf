public import Vitals

/// A session over Bluetooth, which needs only a description, a conversation, and the operations of its device: the events are those of
/// the conversation, the strength of the signal is that of its link.
public protocol GATTSession: DeviceSession {
    /// The conversation with the device.
    var conversation: GATTConversation { get }
}

extension GATTSession {
    /// Waits for events of the device, which are those of the conversation's inbox.
    public func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await conversation.inbox.next() }

    /// The signal strength in dBm, `nil` if unknown.
    public func signalStrength() async -> Int? { await conversation.link.signalStrength() }

    /// Checks that the device can do something with a metric.
    /// - Parameter operation: what the message begins with and the metric's name ends, such as `monitoring of`.
    /// - Throws: `unsupported` if it cannot.
    public func check(_ ability: Abilities, of metric: Metric, _ operation: String) throws(DeviceError) {
        guard description.capabilities.supports(ability, metric) else {
            throw .unsupported("\(operation) \(metric.rawValue)")
        }
    }
}

extension Link {
    /// The Bluetooth link that a driver needs.
    /// - Parameter driver: the driver's name, for the message.
    /// - Throws: `failure` for a link of another kind.
    public func bluetooth(for driver: String) throws(DeviceError) -> any GATTLink {
        guard case .gatt(let link) = self else {
            throw DeviceError(.failure, "The driver \(driver) needs a transport for Bluetooth.")
        }
        return link
    }
}
