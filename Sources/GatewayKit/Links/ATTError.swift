/// An error with which a device refuses a request: a code of the Attribute Protocol (Bluetooth Core Specification, Vol 3, Part F,
/// 3.4.1.1), of the common profiles (Core Specification Supplement, Part B), or of the service itself (`0x80`…`0x9f`).
public struct ATTError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code.
    public var code: UInt8
    /// The error with this code.
    public init(code: UInt8) { self.code = code }

    /// The attribute no longer exists.
    public static let invalidHandle = ATTError(code: 0x01)
    /// It cannot be read.
    public static let readNotPermitted = ATTError(code: 0x02)
    /// It cannot be written.
    public static let writeNotPermitted = ATTError(code: 0x03)
    /// The device must be paired first.
    public static let insufficientAuthentication = ATTError(code: 0x05)
    /// The device does not know the request.
    public static let requestNotSupported = ATTError(code: 0x06)
    /// A person must allow it on the device.
    public static let insufficientAuthorization = ATTError(code: 0x08)
    /// The value has an impossible length.
    public static let invalidLength = ATTError(code: 0x0d)
    /// The connection must be encrypted, so the device must be paired.
    public static let insufficientEncryption = ATTError(code: 0x0f)
    /// The device lacks memory for it.
    public static let insufficientResources = ATTError(code: 0x11)
    /// The value is not allowed.
    public static let valueNotAllowed = ATTError(code: 0x13)
    /// Notifications or indications must be switched on first.
    public static let notSubscribed = ATTError(code: 0xfd)
    /// The device is still busy with the previous request.
    public static let procedureInProgress = ATTError(code: 0xfe)
    /// The value is out of range.
    public static let outOfRange = ATTError(code: 0xff)

    /// Whether pairing the device helps.
    public var needsPairing: Bool { [0x05, 0x0c, 0x0f].contains(code) }
    /// Whether the service itself defines the error.
    public var isOfService: Bool { (0x80...0x9f).contains(code) }

    /// What the device refused, and what to do about it.
    public var description: String {
        switch self {
        case .invalidHandle: "the device no longer has it; connect again."
        case .readNotPermitted: "the device does not let it be read."
        case .writeNotPermitted: "the device does not let it be written."
        case .requestNotSupported: "the device does not support the request."
        case .insufficientAuthorization: "the device wants to be asked: allow it there."
        case .invalidLength: "the device takes no value of this length."
        case .insufficientResources: "the device has no memory left for it; try again later."
        case .valueNotAllowed: "the device does not allow the value."
        case .notSubscribed: "the device wants its notifications switched on first."
        case .procedureInProgress: "the device is busy with another request; try again later."
        case .outOfRange: "the value is out of the device's range."
        default:
            needsPairing
                ? "the device wants to be paired first: put it in its pairing mode, and pair it."
                : "the device refused it with the error \(hexadecimal)."
        }
    }

    private var hexadecimal: String { "0x" + (code < 0x10 ? "0" : "") + String(code, radix: 16) }
}
