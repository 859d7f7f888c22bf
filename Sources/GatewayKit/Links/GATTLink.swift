/// A Bluetooth Low Energy connection to one device (Bluetooth Core Specification, Vol 3, Part G, Generic Attribute Profile).
///
/// A link is made when the device is connected, its services are discovered, and the security that its configuration names is
/// reached. Its services never change: a device that changes them ends the link. Calls of several tasks may overlap; the link
/// sends one request after the other. Cancelling a call ends the wait and not the link; the device may have done what it was
/// asked to.
public protocol GATTLink: Sendable {
    /// The name that the device advertises; `nil` if it is not known. A recording does not keep it, as it may identify a person's device.
    var name: String? { get }
    /// The services of the device, in the order of their handles.
    var services: [GATTService] { get }
    /// The most bytes of one notification, or of one write without response: the negotiated ATT MTU less 3, at least 20.
    var maximumPayload: Int { get }
    /// Reads a characteristic's whole value, of at most 512 bytes.
    func read(_ characteristic: GATTCharacteristic) async throws(GATTError) -> [UInt8]
    /// Writes a characteristic's value: at most 512 bytes with a response, `maximumPayload` without one.
    func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ kind: GATTWrite
    ) async throws(GATTError)
    /// Makes the device send a characteristic's values: indications if it has only those, else notifications.
    ///
    /// No value is lost that the device sends after it has received this request, even before the call returns. Doing it
    /// twice changes nothing. After the end of a connection that has brought confirmed records it does nothing and
    /// succeeds: `nextValue` has them.
    func subscribe(to characteristic: GATTCharacteristic) async throws(GATTError)
    /// Makes the device send no more values of a characteristic. Values that already arrived still come.
    func unsubscribe(from characteristic: GATTCharacteristic) async throws(GATTError)
    /// Waits for the next value of any subscribed characteristic, in the order in which the device sent them; `nil` when the
    /// device has ended the connection. One task waits at a time.
    ///
    /// The link confirms an indication when it arrives, since that is when BlueZ does it: the device may then forget the value. So
    /// one that came without a subscription is delivered when the connection ends.
    /// - Throws: `broken` when the connection was lost, or more than `GATTValueQueue.capacity` values waited.
    func nextValue() async throws(LinkError) -> GATTValue?
    /// Offers services to this device while the link is open, besides those already offered. A transport may show them to the gateway's
    /// other devices, too, and for longer.
    func serve(_ services: [GATTLocalService]) async throws(GATTError)
    /// The signal strength in dBm, `nil` if unknown.
    func signalStrength() async -> Int?
}

/// How a value is written.
public enum GATTWrite: Sendable, Hashable {
    /// The device confirms or refuses the write (Write Request; BlueZ's type `request`).
    case withResponse
    /// The device says nothing, and may drop it (Write Command; BlueZ's type `command`).
    case withoutResponse
}

/// A value that a device sent unasked, as notification or indication.
public struct GATTValue: Sendable, Hashable {
    /// The characteristic whose value it is.
    public var characteristic: GATTCharacteristic
    /// The value.
    public var bytes: [UInt8]
    /// A value of a characteristic.
    public init(characteristic: GATTCharacteristic, bytes: [UInt8]) {
        self.characteristic = characteristic
        self.bytes = bytes
    }
}

extension GATTLink {
    /// No name is known.
    public var name: String? { nil }

    /// The first characteristic with this identifier in a service with that one; `nil` if there is none.
    public func characteristic(_ uuid: BluetoothUUID, in service: BluetoothUUID) -> GATTCharacteristic? {
        for candidate in services where candidate.uuid == service {
            if let found = candidate.characteristics.first(where: { $0.uuid == uuid }) { return found }
        }
        return nil
    }
}

/// A service that the gateway offers to a device, such as the current time to a cuff that asks for it.
public struct GATTLocalService: Sendable {
    /// The service's identifier.
    public var uuid: BluetoothUUID
    /// Its characteristics.
    public var characteristics: [GATTLocalCharacteristic]
    /// A service of the gateway.
    public init(uuid: BluetoothUUID, characteristics: [GATTLocalCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic that a device may read from the gateway.
public struct GATTLocalCharacteristic: Sendable {
    /// The characteristic's identifier.
    public var uuid: BluetoothUUID
    /// Gives the value of the moment, each time the device reads it. It must not wait.
    public var value: @Sendable () -> [UInt8]
    /// A readable characteristic of the gateway.
    public init(uuid: BluetoothUUID, value: @escaping @Sendable () -> [UInt8]) {
        self.uuid = uuid
        self.value = value
    }
}

/// Why a call of a Bluetooth link failed.
public enum GATTError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The device refused it. The link stays open.
    case refused(ATTError)
    /// The link is over, the device did not answer in time, or the call was cancelled (`cancelled`; then the link stays open).
    case link(LinkError)

    /// The text for a person, with the remedy if it is known.
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .link(let error): error.message
        }
    }
}

extension DeviceError {
    /// The error of a call that failed for this reason; `what` begins its message, such as "The heart rate".
    public init(_ error: GATTError, _ what: String) {
        switch error {
        case .refused(let refusal):
            let code: Code =
                switch refusal {
                case .valueNotAllowed, .outOfRange, .invalidLength: .invalid
                case .requestNotSupported: .unsupported
                case .procedureInProgress, .insufficientResources: .busy
                default: .failure
                }
            self.init(code, "\(what): \(refusal.description)")
        case .link(let error):
            self.init(error.code == .timeout ? .timeout : .disconnected, "\(what): \(error.message)")
        }
    }
}
