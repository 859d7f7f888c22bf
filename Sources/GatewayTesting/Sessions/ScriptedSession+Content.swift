package import GatewayKit
package import Vitals

extension ScriptedSession {
    /// What the device has and does.
    package struct Content: Sendable {
        /// Its records of each metric, in any order.
        package var history: [Metric: [Sample]]
        /// Its own daily summaries.
        package var summaries: [Metric: [DailySummary]]
        /// How it monitors each metric.
        package var monitors: [Metric: MonitorConfiguration]
        /// What a measurement of each metric gives.
        package var measurements: [Metric: Measurement]
        /// The most samples that it puts on a page, whatever the request allows.
        package var pageLimit: Int
        /// Whether it forgets what is acknowledged.
        package var forgetsAcknowledged: Bool

        /// A device with nothing, unless told.
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

    /// How a measurement goes. One without an end goes on until its duration is over or it is stopped.
    package struct Measurement: Sendable {
        /// The readings, each so long after the start.
        package var readings: [(after: Duration, reading: Reading)]
        /// When it ends by itself, and why.
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
        case settle([SampleReceipt], refusals: [DeviceError?])
        case history(HistoryRequest)
        case acknowledgeHistory(Metric, through: Timestamp)
        case summaries(Metric, ClosedRange<LocalDay>)
        case monitorConfiguration(Metric)
        case setMonitorConfiguration(MonitorConfiguration, Metric)
        case startMeasurement(Metric, Duration)
        case stopMeasurement(MeasurementID)
        case setClock(Timestamp, utcOffset: Int)
        case ping
        case shutdown
    }

    /// A measurement that was started.
    struct Start: Sendable {
        var id: MeasurementID
        var metric: Metric
        var duration: Duration
        var script: Measurement
    }
}
