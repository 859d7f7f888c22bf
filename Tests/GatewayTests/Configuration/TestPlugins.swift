import Gateway
import GatewayKit
import Vitals

/// Two drivers and a transport of each kind of link.
enum TestPlugin: Plugin {
    static let name = "Test"
    static let summary = "Drivers and transports that open nothing."
    static let sample = """
        - id: ring-1
          driver: ring
          transport: {type: radio}

        """
    static let drivers: [any DeviceDriver.Type] = [RingDriver.self, ToyDriver.self]
    static let transports: [any Transport.Type] = [PipeTransport.self, RadioTransport.self]
    static let service: (any PluginService.Type)? = Antenna.self

    static let catalogue: PluginCatalogue = {
        do { return try PluginCatalogue([TestPlugin.self]) } catch { preconditionFailure("\(error)") }
    }()
}

/// A driver that needs Bluetooth and has an option.
struct RingDriver: DeviceDriver {
    static let name = "ring"
    static let link = LinkKind.gatt
    let size: Int
    init(options: inout ConfigurationReader) { size = options.integer("size", in: 1...20, default: 10) }
    func examine(from: Timestamp?, context: SessionContext) async -> [Finding] {
        [
            Finding(
                .warning, context.device.text, "It has size \(size), and is read \(from == nil ? "whole" : "in part").")
        ]
    }
    func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        throw DeviceError(.unsupported, "This driver is for tests of the configuration.")
    }
}

/// A driver that needs no link.
struct ToyDriver: DeviceDriver {
    static let name = "toy"
    static let link = LinkKind.none
    init(options: inout ConfigurationReader) {}
    func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        throw DeviceError(.unsupported, "This driver is for tests of the configuration.")
    }
}

/// A byte transport.
struct PipeTransport: Transport {
    static let name = "pipe"
    static let link = LinkKind.bytes
    init(options: inout ConfigurationReader) { _ = options.string("path") }
    func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        throw LinkError(.unreachable, "This transport is for tests of the configuration.")
    }
}

/// What devices that use channel 7 share.
struct Antenna: PluginService {
    static let sample = "  test: {height: 3}\n"
    let height: Int
    init(options: inout ConfigurationReader) { height = options.integer("height", in: 1...30) }
    func withService(context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void) async throws {
        throw LinkError(.unreachable, "This service is for tests of the configuration.")
    }
    func examine(context: ServiceContext) async -> [Finding] {
        [Finding(.problem, "antenna", "It is \(height) m high. Make it higher.")]
    }
}

/// A Bluetooth transport with a required key.
struct RadioTransport: Transport {
    static let name = "radio"
    static let link = LinkKind.gatt
    let channel: Int
    let address: String?
    init(options: inout ConfigurationReader) {
        channel = options.integer("channel", in: 1...9, default: 1)
        address = options.optionalString("address")?.uppercased()
    }
    var service: (any PluginService.Type)? { channel == 7 ? Antenna.self : nil }
    func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        throw LinkError(.unreachable, "This transport is for tests of the configuration.")
    }
}
