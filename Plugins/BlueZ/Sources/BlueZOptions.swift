import GatewayKit
import Vitals

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
        adapter = options.optionalString("adapter")
        links = options.integer("links", in: Self.linkRange, default: Self.links)
        turn = options.duration("turn", in: Self.turnRange, default: Self.turn)
        silence = options.duration("scan_silence", in: Self.silenceRange, default: Self.silence)
        bus = options.optionalString("bus")
        if let bus, !bus.contains(":") {
            options.report(
                "An address of D-Bus is needed here, such as unix:path=/run/dbus/system_bus_socket.", at: "bus")
        }
    }
}
