/// The context of a command: who asked, until when it is valid, and where the answer goes.
package struct CommandEnvelope: Sendable, Hashable {
    /// The consumer's id of the command; the same id within ten minutes gets the same answer.
    package var id: String?
    /// The device addressed; `nil` for the gateway.
    package var device: DeviceID?
    /// The command's name in the topic.
    package var command: String
    /// The command is not started after this time.
    package var expiresAt: Timestamp?
    /// The MQTT 5 response topic; `nil` if the answer goes to the `response` topic of the device or gateway.
    package var responseTopic: String?
    /// MQTT 5 correlation data, to be returned with the answer.
    package var correlation: [UInt8]?

    package init(
        id: String? = nil, device: DeviceID?, command: String, expiresAt: Timestamp? = nil,
        responseTopic: String? = nil, correlation: [UInt8]? = nil
    ) {
        self.id = id
        self.device = device
        self.command = command
        self.expiresAt = expiresAt
        self.responseTopic = responseTopic
        self.correlation = correlation
    }
}
