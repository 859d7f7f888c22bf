import Vitals

extension LivenessPart {
    /// The time within which a part must answer. It is far longer than any healthy part takes, since a service manager
    /// may restart the gateway after it.
    var limit: Duration {
        switch self {
        case .storeWriter, .storeReader: Self.storeLimit
        case .refusedFacts, .commands, .upkeep: Self.commitLimit
        case .configuration: Self.configurationLimit
        case .device: Self.endLimit
        case .brokerNetwork, .delivery, .devices, .timers, .transport, .plugin, .statistics, .web: Self.answerLimit
        }
    }

    /// The limit of parts that only compute. A busy small board may need some seconds.
    static let answerLimit: Duration = .seconds(15)
    /// The limit of the store's writer and reader: an SD card may take twenty seconds to move 64 MiB of the log into the
    /// file, and another program may lock the file for five.
    static let storeLimit: Duration = .seconds(45)
    /// The limit of parts that wait for the store's writer: it is to be late first.
    static let commitLimit: Duration = storeLimit + answerLimit
    /// The limit of reading a changed configuration, with its secrets and certificates, from a slow network share.
    static let configurationLimit: Duration = .seconds(30)
    /// The limit of what has to end: a graceful disconnect, the last commit, and the close of the link.
    static let endLimit: Duration = storeLimit + answerLimit
}
