import GatewayKit
import Vitals

/// A conversation with a ring.
final class ColmiSession: GATTSession {
    let description: DeviceDescription
    private let connection: RingConnection
    var conversation: GATTConversation { connection.conversation }

    init(_ connection: RingConnection, _ description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try check(.history, of: request.metric, "the history of")
        return try await connection.history.page(request)
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try check(.monitor, of: metric, "monitoring of")
        return try await connection.monitoring.configuration(of: metric)
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try check(.monitor, of: configuration.metric, "monitoring of")
        try await connection.monitoring.set(configuration)
    }

    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try check(.measure, of: metric, "measuring")
        return try await connection.measurement.start(metric, for: duration)
    }

    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        await connection.measurement.stop(measurement)
    }

    /// Sets the clock. It runs at the offset of the configuration, not at that of the present season.
    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await connection.clock.set(to: now)
    }

    func ping() async throws(DeviceError) { try await connection.readBattery() }
}
