/// A device's names and numbers by its own account; `nil` for those it does not give.
public struct DeviceIdentity: Sendable, Hashable {
    /// The manufacturer.
    public var manufacturer: String?
    /// The model's name.
    public var model: String?
    /// The serial number.
    public var serial: String?
    /// The firmware version.
    public var firmware: String?
    /// The hardware revision.
    public var hardware: String?

    /// A device's identity.
    public init(
        manufacturer: String? = nil, model: String? = nil, serial: String? = nil, firmware: String? = nil,
        hardware: String? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.hardware = hardware
    }
}
