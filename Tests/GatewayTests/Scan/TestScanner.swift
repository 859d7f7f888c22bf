import Concurrency
import Gateway
import GatewayKit
import Logging
import Synchronization
import Vitals

/// A service that finds what a test says.
final class TestScanner: ScanningService {
    static let sample = ""
    static let transport: any Transport.Type = RadioTransport.self

    let found: [NearbyDevice]
    private let failure: LinkError?
    /// The scan lasts until then; `nil` for a scan that ends at once.
    private let end: Promise<Void>?
    /// How often it was opened and asked.
    let notes = Mutex<[String]>([])

    init(_ found: [NearbyDevice] = [], failure: LinkError? = nil, until end: Promise<Void>? = nil) {
        (self.found, self.failure, self.end) = (found, failure, end)
    }

    convenience init(options: inout ConfigurationReader) { self.init() }

    func withService(context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void) async throws {
        notes.withLock { $0.append("open") }
        defer { notes.withLock { $0.append("closed") } }
        try await body()
    }

    func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice] {
        notes.withLock { $0.append("scan") }
        if let failure { throw failure }
        do { try await end?.wait() } catch { throw LinkError(.cancelled, "It was cancelled.") }
        return found
    }

    /// The service as a gateway opens it.
    func setup(_ name: String = "radio") -> ServiceSetup {
        ServiceSetup(name: name, service: self, fingerprint: 0) { body in
            try await self.withService(context: ServiceContext(clock: .system, logger: Logger(label: "test")), body)
        }
    }
}

/// Another type of scanner, since the type distinguishes services.
final class OtherScanner: ScanningService {
    static let sample = ""
    static let transport: any Transport.Type = PipeTransport.self
    let found: [NearbyDevice]
    init(_ found: [NearbyDevice] = []) { self.found = found }
    convenience init(options: inout ConfigurationReader) { self.init() }
    func withService(context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await body()
    }
    func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice] { found }

    func setup() -> ServiceSetup {
        ServiceSetup(name: "other", service: self, fingerprint: 0) { try await $0() }
    }
}

/// A driver that recognises devices, over Bluetooth.
protocol RecognisingDriver: DeviceDriver {}

extension RecognisingDriver {
    static var link: LinkKind { .gatt }
    func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        throw DeviceError(.unsupported, "This driver is for tests of scans.")
    }
}

struct StrapDriver: RecognisingDriver {
    static let name = "strap"
    static let recognition = Recognition(services: [BluetoothUUID(0x180d)])
    init(options: inout ConfigurationReader) {}
}

struct BandDriver: RecognisingDriver {
    static let name = "band"
    static let recognition = Recognition(
        services: Set([BluetoothUUID("14839ac4-7d7e-415c-9a42-167340cf2339")].compactMap(\.self)),
        namePrefixes: ["Band "])
    init(options: inout ConfigurationReader) {}
}
