package import GatewayKit
package import Vitals

extension ScriptedSession {
    /// The device's content and behaviour.
    package struct Content: Sendable {
        /// Its records of each metric, in any order.
        package var history: [Metric: [Sample]]
        /// Makes a page of the history in place of `history`, which would be long.
        package var pages: (@Sendable (HistoryRequest) -> HistoryPage)?
        /// Its own daily summaries.
        package var summaries: [Metric: [DailySummary]]
        /// Its monitoring configuration of each metric.
        package var monitors: [Metric: MonitorConfiguration]
        /// The scripted measurement of each metric.
        package var measurements: [Metric: Measurement]
        /// The most samples on a page, also if the request allows more.
        package var pageLimit: Int
        /// Whether it removes acknowledged records.
        package var forgetsAcknowledged: Bool
        /// Its signal strength in dBm.
        package var signalStrength: Int?

        /// Creates content; empty by default.
        package init(
            history: [Metric: [Sample]] = [:], summaries: [Metric: [DailySummary]] = [:],
            monitors: [Metric: MonitorConfiguration] = [:], measurements: [Metric: Measurement] = [:],
            pageLimit: Int = HistoryRequest.maximumLimit, forgetsAcknowledged: Bool = false
        ) {
            self.history = history
            self.summaries = summaries
            self.monitors = monitors
            self.measurements = measurements
            self.pageLimit = pageLimit
            self.forgetsAcknowledged = forgetsAcknowledged
        }
    }

    /// A scripted measurement. Without an end it lasts until its duration is over or it is stopped.
    package struct Measurement: Sendable {
        /// The readings, each with its time after the start.
        package var readings: [(after: Duration, reading: Reading)]
        /// When it ends by itself, and the error if it fails.
        package var end: (after: Duration, error: DeviceError?)?

        /// A measurement.
        package init(
            readings: [(after: Duration, reading: Reading)], end: (after: Duration, error: DeviceError?)? = nil
        ) {
            self.readings = readings
            self.end = end
        }
    }

    /// A call of the gateway, with its arguments.
    package enum Call: Sendable, Hashable {
        case settle([SampleReceipt], outcomes: [SettledReceipt.Outcome])
        case history(HistoryRequest)
        case acknowledgeHistory(Metric, through: Timestamp)
        case summaries(Metric, ClosedRange<LocalDay>)
        case monitorConfiguration(Metric)
        case setMonitorConfiguration(MonitorConfiguration)
        case startMeasurement(Metric, Duration)
        case stopMeasurement(MeasurementID)
        case setClock(Timestamp, utcOffset: Int)
        case ping
        case shutdown
    }

    /// A started measurement.
    struct Start: Sendable {
        var id: MeasurementID
        var metric: Metric
        var duration: Duration
        var script: Measurement
    }
}
