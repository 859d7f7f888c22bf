/// What a consumer can ask of one device.
package enum DeviceCommand: Sendable, Hashable {
    /// Read the device's history: these metrics (all supported ones where empty) and this range (from the cursor where
    /// `nil`).
    case sync(metrics: [Metric], from: Timestamp?, to: Timestamp?)
    /// Start a measurement.
    case measure(Metric, duration: Duration)
    /// Stop the measurement that runs; a metric stops only a measurement of that metric.
    case stopMeasuring(Metric?)
    /// Read the monitor configuration from the device now; all monitored metrics where empty.
    case fetch(metrics: [Metric])
    /// A page of samples from the store, after a synchronisation of that range where asked for: those that a person started
    /// (`true`), the others (`false`), or all.
    case history(
        Metric, from: Timestamp?, to: Timestamp?, limit: Int, page: String?, syncsFirst: Bool,
        isUserInitiated: Bool? = nil)
    /// Days from the store, after a synchronisation of that range where asked for.
    case daily(Metric, from: LocalDay, to: LocalDay, syncsFirst: Bool)
    /// Set the device's clock.
    case time
    /// Close the link and open it again.
    case reconnect
    /// Change the monitoring.
    case configure(MonitorPatch, ifVersion: Int?, adopts: Bool)

    /// The command's name in its topic and in answers.
    package var name: String {
        switch self {
        case .sync: "sync"
        case .measure, .stopMeasuring: "measure"
        case .fetch: "fetch"
        case .history: "history"
        case .daily: "daily"
        case .time: "time"
        case .reconnect: "reconnect"
        case .configure: "config/set"
        }
    }
}

/// What a consumer can ask of the gateway.
package enum GatewayCommand: Sendable, Hashable {
    /// Synchronise every device.
    case sync
    /// Send facts again, by their numbers.
    case replay(ClosedRange<Int64>)
    /// Publish discovery and every state again.
    case rediscover
    /// Read the configuration file again.
    case reload
    /// Look for devices by every transport that can.
    case scan

    /// The command's name in its topic and in answers.
    package var name: String {
        switch self {
        case .sync: "sync"
        case .replay: "replay"
        case .rediscover: "rediscover"
        case .reload: "reload"
        case .scan: "scan"
        }
    }
}
