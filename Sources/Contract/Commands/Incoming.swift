package import Vitals

/// What became of a message that was received.
package enum Incoming: Sendable, Hashable {
    /// It is none of ours, or was kept by the broker: it gets no answer.
    case ignored
    /// A command of a device. Whether the device exists and can do it is not known here.
    case device(DeviceCommand, CommandEnvelope)
    /// A command of the gateway.
    case gateway(GatewayCommand, CommandEnvelope)
    /// It is not run. The answer is final; a configuration that was refused is published again, so that a control in a
    /// user interface falls back to what holds.
    case rejected(Answer, CommandEnvelope, republishesConfig: Bool)
}
