/// Why a device did not do what it was asked.
public struct DeviceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Code: String, Sendable, Hashable {
        /// The device, or its protocol, cannot do it. Trying again does not help.
        case unsupported
        /// The device does something else right now. Trying again later may help.
        case busy
        /// The device refuses the values.
        case invalid
        /// It is not worn, so that it cannot measure.
        case notWorn
        /// Its battery is too low.
        case lowBattery
        /// It tried and failed, or answered what its protocol does not allow.
        case failure
        /// It did not answer in time. The session is over.
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
