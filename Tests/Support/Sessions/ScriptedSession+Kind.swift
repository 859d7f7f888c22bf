package import GatewayKit
package import Vitals

extension ScriptedSession.Call {
    /// A call without its arguments.
    package enum Kind: Sendable {
        case settle, history, acknowledgeHistory, summaries, monitorConfiguration, setMonitorConfiguration
        case startMeasurement, stopMeasurement, setClock, ping, shutdown
    }

    /// The call without its arguments.
    package var kind: Kind {
        switch self {
        case .settle: .settle
        case .history: .history
        case .acknowledgeHistory: .acknowledgeHistory
        case .summaries: .summaries
        case .monitorConfiguration: .monitorConfiguration
        case .setMonitorConfiguration: .setMonitorConfiguration
        case .startMeasurement: .startMeasurement
        case .stopMeasurement: .stopMeasurement
        case .setClock: .setClock
        case .ping: .ping
        case .shutdown: .shutdown
        }
    }

    /// The request of a call for the history.
    package var asHistory: HistoryRequest? { if case .history(let request) = self { request } else { nil } }
    /// The days of a call for summaries.
    package var asSummaries: ClosedRange<LocalDay>? { if case .summaries(_, let days) = self { days } else { nil } }
    /// The metric of a measurement that is started.
    package var asStart: Metric? { if case .startMeasurement(let metric, _) = self { metric } else { nil } }
    /// The metric whose monitoring is written.
    package var asWrite: Metric? { if case .setMonitorConfiguration(let all) = self { all.metric } else { nil } }
}
