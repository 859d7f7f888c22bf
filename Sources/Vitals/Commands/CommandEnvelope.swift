/// What is around a command: who asked, until when, and where the answer goes.
package struct CommandEnvelope: Sendable, Hashable {
    /// The consumer's own name of the command; the same name again within ten minutes gets the same answer.
    package var id: String?
    /// The device that was asked, `nil` for the gateway.
    package var device: DeviceID?
    /// The command's name as it stood in the topic.
    package var command: String
    /// After this moment the command is not begun any more.
    package var expiresAt: Timestamp?
    /// The MQTT 5 response topic; `nil` where the answer goes to the device's or the gateway's `response`.
    package var responseTopic: String?
    /// What the consumer wants back with the answer, to tell answers apart.
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
