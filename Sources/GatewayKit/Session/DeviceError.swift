/// Why a device did not perform an operation.
public struct DeviceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Code: String, Sendable, Hashable {
        /// The device or its protocol cannot do it. Retrying does not help.
        case unsupported
        /// The device is busy with something else. Retrying later may help.
        case busy
        /// The device refused the values.
        case invalid
        /// The device is not worn, so it cannot measure.
        case notWorn
        /// The device's battery is too low.
        case lowBattery
        /// The device tried and failed, or its answer violates the protocol.
        case failure
        /// The device did not answer in time. The session is over.
        case timeout
        /// The link broke. The session is over.
        case disconnected
    }
    /// What happened, for a program.
    public var code: Code
    /// What happened, for a person.
    public var message: String

    /// An error of a device.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The device cannot do `operation`.
    public static func unsupported(_ operation: String) -> DeviceError {
        DeviceError(.unsupported, "The device does not support \(operation).")
    }

    /// The text for a person.
    public var description: String { message }
}
