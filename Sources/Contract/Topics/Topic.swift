package import Vitals

/// A topic of the contract that the gateway publishes to, without its base: every one is named here and nowhere else.
package enum Topic: Sendable, Hashable {
    /// `online` or `offline` of the gateway, and its will.
    case gatewayStatus
    /// Versions, plugins and devices.
    case gatewayInfo
    /// How the outbox and the store are doing.
    case gatewayState
    /// Answers of the gateway, and of devices that do not exist.
    case gatewayResponse
    /// Identity and capabilities of a device.
    case info(DeviceID)
    /// `online` or `offline` of a device.
    case availability(DeviceID)
    /// How the connection with a device stands.
    case link(DeviceID)
    /// The newest sample.
    case latest(DeviceID, Metric)
    /// The current local day.
    case today(DeviceID, Metric)
    /// A past local day.
    case pastDay(DeviceID, Metric, LocalDay)
    /// Samples, live and late.
    case measurement(DeviceID, Metric)
    /// Edges of live alerts.
    case alertEvent(DeviceID)
    /// Edges of alerts that were found in late data.
    case historyEvent(DeviceID)
    /// What is known to be lost.
    case gapEvent(DeviceID)
    /// Whether an alert is active.
    case level(DeviceID, AlertRule)
    /// The accepted configuration.
    case config(DeviceID)
    /// Progress and result of the synchronisation.
    case sync(DeviceID)
    /// The measurement in progress.
    case measure(DeviceID)
    /// Answers of a device.
    case response(DeviceID)
    /// Where a configuration is sent to. It is here because discovery payloads name it.
    case configSet(DeviceID)
    /// Where a command of a device is sent to. It is here because discovery payloads name it.
    case command(DeviceID, String)
    /// Where a command of the gateway is sent to. It is here because discovery payloads name it.
    case gatewayCommand(String)
}

extension Topic {
    /// Whether the broker keeps the newest message for later subscribers: state is retained, facts and answers are not.
    package var isRetained: Bool {
        switch self {
        case .gatewayStatus, .gatewayInfo, .gatewayState, .info, .availability, .link, .latest, .today, .level,
            .config, .sync, .measure:
            true
        case .gatewayResponse, .pastDay, .measurement, .alertEvent, .historyEvent, .gapEvent, .response, .configSet,
            .command, .gatewayCommand:
            false
        }
    }

    /// After what time a message of this topic is of no use any more; `nil` where it stays. `latest` has an expiry of its
    /// own, which depends on the sample.
    package var expiry: Duration? {
        switch self {
        case .pastDay, .measurement, .historyEvent, .gapEvent: .days(7)
        case .alertEvent: .hours(1)
        case .response, .gatewayResponse: .seconds(60)
        default: nil
        }
    }

    /// All retained topics that a device can have: they are emptied when it is removed.
    package static func retained(of device: DeviceID) -> [Topic] {
        [.info(device), .availability(device), .link(device), .config(device), .sync(device), .measure(device)]
            + Metric.allCases.flatMap { [.latest(device, $0), .today(device, $0)] }
            + AlertRule.all.map { .level(device, $0) }
    }
}
