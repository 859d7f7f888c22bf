import Vitals

extension HealthPart {
    /// The time within which a part must answer. It is far longer than any healthy part takes, since a service manager
    /// may restart the gateway after it.
    var limit: Duration {
        switch self {
        case .storeWriter: Self.storeLimit
        case .configuration: Self.configurationLimit
        case .brokerNetwork, .delivery, .devices, .timers: Self.answerLimit
        }
    }

    /// The limit of parts that only compute. A busy small board may need some seconds.
    static let answerLimit: Duration = .seconds(15)
    /// The limit of the store's writer: an SD card may take twenty seconds to move 64 MiB of the log into the file, and
    /// another program may lock the file for five.
    static let storeLimit: Duration = .seconds(45)
    /// The limit of reading a changed configuration, with its secrets and certificates, from a slow network share.
    static let configurationLimit: Duration = .seconds(30)
}
