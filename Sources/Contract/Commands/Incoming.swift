package import Vitals

/// The result of parsing a received message.
package enum Incoming: Sendable, Hashable {
    /// It is not a command, or is retained: it gets no answer.
    case ignored
    /// A command of a device. The parser does not check that the device exists and can do it.
    case device(DeviceCommand, CommandEnvelope)
    /// A command of the gateway.
    case gateway(GatewayCommand, CommandEnvelope)
    /// The passkey that a device shows. The waiting transport gets it, and it is kept nowhere.
    case passkey(Passkey, CommandEnvelope)
    /// It is not run. The answer is final. A refused configuration is published again, so that a control in a user
    /// interface returns to the accepted value.
    case rejected(Answer, CommandEnvelope, republishesConfig: Bool)

    /// Who asked, and where the answer goes; `nil` if it gets none.
    package var envelope: CommandEnvelope? {
        switch self {
        case .device(_, let envelope), .gateway(_, let envelope), .passkey(_, let envelope),
            .rejected(_, let envelope, _):
            envelope
        case .ignored: nil
        }
    }
}
