package import Vitals

/// A topic of the contract for publishing, without its base. This is the only list of them.
package enum Topic: Sendable, Hashable {
    /// `online` or `offline` of the gateway; also the topic of its will.
    case gatewayStatus
    /// Versions, plugins and devices.
    case gatewayInfo
    /// The state of the outbox and the store.
    case gatewayState
    /// Answers of the gateway, and answers about unknown devices.
    case gatewayResponse
    /// Identity and capabilities of a device.
    case info(DeviceID)
    /// `online` or `offline` of a device.
    case availability(DeviceID)
    /// The state of the connection with a device.
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
    /// Edges of alerts found in late data.
    case historyEvent(DeviceID)
    /// Gaps.
    case gapEvent(DeviceID)
    /// The level of an alert.
    case level(DeviceID, AlertRule)
    /// The accepted configuration.
    case config(DeviceID)
    /// Progress and result of the synchronisation.
    case sync(DeviceID)
    /// The measurement in progress.
    case measure(DeviceID)
    /// Whether a device is worn, and whether it is charging.
    case wear(DeviceID)
    /// The pairing of a device whose passkey a person types.
    case pairing(DeviceID)
    /// The samples that wait until somebody says whose they are.
    case whose(DeviceID)
    /// That one more of them waits.
    case whoseEvent(DeviceID)
    /// Answers of a device.
    case response(DeviceID)
    /// The topic for sending a configuration, included because discovery payloads name it.
    case configSet(DeviceID)
    /// The topic for a command of a device, included because discovery payloads name it.
    case command(DeviceID, String)
    /// The topic for a command of the gateway, included because discovery payloads name it.
    case gatewayCommand(String)
}

extension Topic {
    /// Whether the broker retains the newest message for later subscribers: true for states, false for facts and
    /// answers.
    package var isRetained: Bool {
        switch self {
        case .gatewayStatus, .gatewayInfo, .gatewayState, .info, .availability, .link, .latest, .today, .level,
            .config, .sync, .measure, .wear, .pairing, .whose:
            true
        case .gatewayResponse, .pastDay, .measurement, .alertEvent, .historyEvent, .gapEvent, .whoseEvent, .response,
            .configSet,
            .command, .gatewayCommand:
            false
        }
    }

    /// The time after which a message on this topic expires; `nil` if it does not. `latest` has its own expiry,
    /// which depends on the sample.
    package var expiry: Duration? {
        switch self {
        case .pastDay, .measurement, .historyEvent, .gapEvent, .whoseEvent: .days(7)
        case .alertEvent: .hours(1)
        case .response, .gatewayResponse: .seconds(60)
        default: nil
        }
    }

    /// All retained topics that a device can have, which are emptied when it is removed.
    package static func retained(of device: DeviceID) -> [Topic] {
        [
            .info(device), .availability(device), .link(device), .config(device), .sync(device), .measure(device),
            .wear(device), .pairing(device), .whose(device),
        ]
            + Metric.allCases.flatMap { [.latest(device, $0), .today(device, $0)] }
            + AlertRule.all.map { .level(device, $0) }
    }
}
