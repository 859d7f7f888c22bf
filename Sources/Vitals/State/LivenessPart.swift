/// A part of the gateway that must keep answering for the gateway to do its work.
package enum LivenessPart: Sendable, Hashable {
    /// Commits what devices measured.
    case storeWriter
    /// Reads what is stored.
    case storeReader
    /// Moves the packets of the connection with the broker.
    case brokerNetwork
    /// Sends what waits for the broker, and takes messages from it.
    case delivery
    /// Quarantines facts that the broker does not take.
    case refusedFacts
    /// Begins commands that the broker brought.
    case commands
    /// The devices' engines, on the threads that all tasks share.
    case devices
    /// Wakes what waits for a time.
    case timers
    /// Reads a changed configuration.
    case configuration
    /// Cleans the store, and reports the gateway's state.
    case upkeep
    /// Imports statistics into Home Assistant.
    case statistics
    /// Moves the bytes of the gateway's own listener.
    case web
    /// The threads of all links of a transport, by its name.
    case transport(String)
    /// What the devices of a plugin share, such as a listener.
    case plugin(String)
    /// A device whose connection has to end.
    case device(DeviceID)

    /// The parts that every gateway has from its start to its end.
    package static let permanent: [LivenessPart] = [
        .storeWriter, .storeReader, .brokerNetwork, .delivery, .refusedFacts, .commands, .devices, .timers,
        .configuration, .upkeep,
    ]

    /// The part's name for people and on the wire.
    package var name: String {
        switch self {
        case .storeWriter: "store_writer"
        case .storeReader: "store_reader"
        case .brokerNetwork: "broker_network"
        case .delivery: "delivery"
        case .refusedFacts: "refused_facts"
        case .commands: "commands"
        case .devices: "devices"
        case .timers: "timers"
        case .configuration: "configuration"
        case .upkeep: "upkeep"
        case .statistics: "statistics"
        case .web: "web"
        case .transport(let name): "transport.\(name)"
        case .plugin(let name): "plugin.\(name)"
        case .device(let device): "device.\(device)"
        }
    }

    /// Whether the rest of the gateway works without it: it belongs to one plugin or one device, or serves one consumer.
    package var isOptional: Bool {
        switch self {
        case .plugin, .device, .statistics, .web: true
        default: false
        }
    }
}

extension LivenessPart: Comparable {
    /// The order of names.
    package static func < (left: LivenessPart, right: LivenessPart) -> Bool { left.name < right.name }
}
