import SwiftProtobuf

/// The numbers of messages of ESPHome's native API, as far as the plugin uses them (ESPHome's api.proto, the option `id`).
enum MessageType: UInt32, Sendable {
    case helloRequest = 1
    case helloResponse = 2
    /// Before 2026.1: without it an old proxy answers nothing else.
    case authenticationRequest = 3
    case authenticationResponse = 4
    case disconnectRequest = 5
    case disconnectResponse = 6
    case pingRequest = 7
    case pingResponse = 8
    case deviceInfoRequest = 9
    case deviceInfo = 10
    case subscribeAdvertisements = 66
    case deviceRequest = 68
    case deviceConnection = 69
    case servicesRequest = 70
    case services = 71
    case servicesDone = 72
    case readRequest = 73
    case readResponse = 74
    case writeRequest = 75
    case writeDescriptorRequest = 77
    case notifyRequest = 78
    case notifyData = 79
    case subscribeConnections = 80
    case connections = 81
    case attributeError = 82
    case writeResponse = 83
    case notifyResponse = 84
    case pairing = 85
    case unsubscribeAdvertisements = 87
    case advertisements = 93
    case scannerState = 126
}

/// What a proxy is asked to do with a device (`BluetoothDeviceRequestType`).
enum DeviceAction: UInt32, Sendable {
    case disconnect = 1
    case pair = 2
    /// The client knows the services of the device.
    case connectWithCache = 4
    case connectWithoutCache = 5
}

/// What a proxy can do (`bluetooth_proxy_feature_flags`).
struct ProxyFeatures: OptionSet, Sendable {
    let rawValue: UInt32

    static let connections = ProxyFeatures(rawValue: 1 << 1)
    /// Since 2022.12.
    static let caching = ProxyFeatures(rawValue: 1 << 2)
    static let pairing = ProxyFeatures(rawValue: 1 << 3)
    /// Since 2023.6.
    static let rawAdvertisements = ProxyFeatures(rawValue: 1 << 5)
}

/// A message with its number: any number, since a proxy also sends what the plugin does not use.
struct Packet: Sendable, Hashable {
    var number: UInt32
    var payload: [UInt8]
    /// The known type; `nil` for another.
    var type: MessageType? { MessageType(rawValue: number) }

    init(number: UInt32, payload: [UInt8]) { (self.number, self.payload) = (number, payload) }

    /// A message of a type; without `message` an empty one.
    init(_ type: MessageType, _ message: (any Message)? = nil) throws(WireError) {
        do {
            self.init(number: type.rawValue, payload: try message.map { try $0.serializedBytes() } ?? [])
        } catch { throw .malformed("a request cannot be written: \(error)") }
    }

    /// The content as a message.
    func decoded<Content: Message>(_: Content.Type = Content.self) throws(WireError) -> Content {
        do { return try Content(serializedBytes: payload) } catch {
            throw .malformed("the message \(number) cannot be read")
        }
    }
}

/// Why the bytes of a proxy cannot be understood, as the end of a sentence with what to do.
enum WireError: Error, Hashable, CustomStringConvertible {
    case keyNeeded, keyNotUsed, wrongKey
    /// The proxy refuses the handshake, with its reason.
    case refused(String)
    case tooLong(Int)
    case malformed(String)

    /// The most characters of a proxy's own reason.
    static let longestReason = 80

    var description: String {
        switch self {
        case .keyNeeded: "it wants encryption. Write key: with the api: encryption: key: of its configuration."
        case .keyNotUsed: "it does not use encryption. Remove key:, or add api: encryption: to its configuration."
        case .wrongKey: "the key is wrong. Copy the api: encryption: key: of its configuration."
        case .refused(let reason):
            "it refuses the handshake: \(reason.filter { !$0.isNewline }.prefix(Self.longestReason)). Update ESPHome on it."
        case .tooLong(let bytes): "it announces a message of \(bytes) bytes. Is it an ESPHome device?"
        case .malformed(let what): "\(what). Is it an ESPHome device? If so, update ESPHome on it."
        }
    }
}
