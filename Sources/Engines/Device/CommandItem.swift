package import Vitals

/// A command on its way through a device's lane.
package struct CommandItem: Sendable {
    package var command: DeviceCommand
    /// Its key in the command log, used to answer it.
    package var key: String
    package var expiresAt: Timestamp?
    /// The consumer's id of the command, or else its key.
    package var name: String

    package init(command: DeviceCommand, key: String, expiresAt: Timestamp?, name: String) {
        self.command = command
        self.key = key
        self.expiresAt = expiresAt
        self.name = name
    }
}

extension DeviceCommand {
    /// Whether it needs a connected device.
    var needsDevice: Bool {
        switch self {
        case .sync, .measure, .fetch, .time: true
        case .history(_, _, _, _, _, let syncsFirst, _), .daily(_, _, _, let syncsFirst, _): syncsFirst
        case .stopMeasuring, .reconnect, .acknowledge, .assign, .withdraw, .configure: false
        }
    }

    /// Why a device with these capabilities cannot carry it out; `nil` if it can.
    /// - Parameter isStored: whether the store has samples of a metric, which answer the command even if the device no
    ///   longer supports it.
    package func refusal(by capabilities: Capabilities, isStored: (Metric) -> Bool) -> Answer? {
        let missing: [Metric]
        switch self {
        case .sync(let metrics, _, _):
            // One supported metric is enough: the answer gives the result of each.
            missing = metrics.contains { capabilities.canSynchronise($0) } ? [] : metrics
        case .measure(let metric, _): missing = capabilities.supports(.measure, metric) ? [] : [metric]
        case .fetch(let metrics): missing = metrics.filter { !capabilities.isConfigurable($0) }
        case .history(let metric, _, _, _, _, true, _):
            missing = capabilities.supports(.history, metric) ? [] : [metric]
        case .daily(let metric, _, _, true, _): missing = capabilities.canSynchronise(metric) ? [] : [metric]
        case .history(let metric, _, _, _, _, false, _), .daily(let metric, _, _, false, _):
            let isKnown = capabilities.supports(metric) || !metric.hasHistory || isStored(metric)
            missing = isKnown ? [] : [metric]
        case .stopMeasuring, .time, .reconnect, .acknowledge, .assign, .withdraw, .configure: missing = []
        }
        guard !missing.isEmpty else { return nil }
        let names = missing.map(\.rawValue).joined(separator: ", ")
        return Answer(.rejected, code: .unsupported, message: "The device does not support \(name) of \(names).")
    }
}

extension Answer {
    /// The answer if the agent is ending or has ended.
    static let gone = Answer(
        .failed, code: .offline, message: "The gateway stops, or the device was removed; send it again later.")

    /// The answer if the device was lost while the command ran.
    static let lost = Answer(.failed, code: .offline, message: "The device was lost.")

    /// The answer to an acknowledgement of what is not active.
    static let noActiveAlert = Answer(
        .rejected, code: .conflict,
        message: "No alert is active with this id: it was cleared, another edge has replaced it, or it never was. "
            + "`last_id` of `alert/<rule>` has the present one.")

    /// The answer if no more synchronisations may wait.
    static let tooManySynchronisations = Answer(
        .rejected, code: .busy, message: "Too many synchronisations wait for this device; try again later.")
}
