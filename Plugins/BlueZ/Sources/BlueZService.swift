package import GatewayKit
import Synchronization
import Vitals

/// The Bluetooth adapters, which all devices share: one scan for each, links in turns, pairing.
package final class BlueZService: ScanningService {
    /// `type: bluez`.
    package static let transport: any Transport.Type = BlueZTransport.self

    /// An entry of `plugins:`.
    package static let sample = """
          # The Bluetooth adapters: {type: bluez}.
          bluez:
            #adapter: hci0              # by name or address; the first one when left out
            #links: 5                   # 1 to 32 at a time; the others take turns
            #turn: 2m                   # how long a link lasts at least while others wait
            #scan_silence: 10m          # an adapter that hears nothing for so long is restarted
            #bus: unix:path=/run/dbus/system_bus_socket

        """
    package static let shared = "the connection to BlueZ"
    /// The connection to the bus, the thread's wake-up, and what opening them needs.
    package static let descriptors = 4

    /// The thread of all connections to the bus.
    static let loop = BusLoop(label: "bluez")

    let options: BlueZOptions
    private let open = Mutex<Radio?>(nil)

    /// Reads `adapter`, `links`, `turn`, `scan_silence` and `bus`.
    package init(options: inout ConfigurationReader) { self.options = BlueZOptions(&options) }

    /// A service with these options.
    init(_ options: BlueZOptions) { self.options = options }

    /// The adapters, while they are open.
    func radio() throws(LinkError) -> Radio {
        guard let radio = open.withLock({ $0 }) else { throw LinkError(.unreachable, "Bluetooth is not open.") }
        return radio
    }

    /// Opens the connection to the bus until `body` returns.
    package func withService(
        context: ServiceContext, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let radio = Radio(options, loop: Self.loop, clock: context.clock, logger: context.logger)
        set(radio)
        defer { set(nil) }
        try await radio.run(body)
    }

    /// The thread of the connection to the bus takes a turn.
    package func answer() async { await Self.loop.answer() }

    /// Its lock must not be inlined where a wait lies between two of them: Decision 165.
    @inline(never)
    private func set(_ radio: Radio?) { open.withLock { $0 = radio } }

    /// Listens with the adapters, without disturbing their devices.
    package func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice] {
        try await radio().nearby(for: duration)
    }
}

/// The section `plugins: {bluez: {…}}`.
struct BlueZOptions: Sendable, Hashable {
    /// The default number of links: cheap adapters manage seven, and one has to be left for what else uses the adapter.
    static let links = 5
    /// More than any adapter is known to manage.
    static let linkRange = 1...32
    /// How long a link lasts at least while others wait.
    static let turn: Duration = .minutes(2)
    static let turnRange: ClosedRange<Duration> = .seconds(5) ... .hours(1)
    /// How long an adapter may hear nothing. In a house there are always devices that advertise.
    static let silence: Duration = .minutes(10)
    static let silenceRange: ClosedRange<Duration> = .seconds(10) ... .days(1)

    /// The adapter by name or address; `nil` for the first one.
    var adapter: String?
    var links = BlueZOptions.links
    var turn = BlueZOptions.turn
    var silence = BlueZOptions.silence
    /// The address of the bus; `nil` for the system bus.
    var bus: String?

    init() {}

    /// Reads `adapter`, `links`, `turn`, `scan_silence` and `bus`.
    init(_ options: inout ConfigurationReader) {
        adapter = options.optionalString("adapter", about: "The adapter by name or address; without it the first one.")
        links = options.integer(
            "links", in: Self.linkRange, default: Self.links, about: "The links of an adapter at a time.")
        turn = options.duration(
            "turn", in: Self.turnRange, default: Self.turn,
            about: "How long a link lasts at least while other devices wait.")
        silence = options.duration(
            "scan_silence", in: Self.silenceRange, default: Self.silence,
            about: "The silence after which an adapter is restarted.")
        bus = options.optionalString("bus", about: "The address of D-Bus; without it the system bus.")
        if let bus, !bus.contains(":") {
            options.report(
                "An address of D-Bus is needed here, such as unix:path=/run/dbus/system_bus_socket.", at: "bus")
        }
    }
}
