import GatewayKit
import Vitals

/// A conversation with a ring.
final class ColmiSession: DeviceSession {
    let description: DeviceDescription
    private let connection: RingConnection

    init(_ connection: RingConnection, _ description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await connection.inbox.next() }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        guard description.capabilities.supports(.history, request.metric) else {
            throw .unsupported("the history of \(request.metric.rawValue)")
        }
        return try await connection.history.page(request)
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try check(.monitor, metric, "monitoring of \(metric.rawValue)")
        return try await connection.monitoring.configuration(of: metric)
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try check(.monitor, configuration.metric, "monitoring of \(configuration.metric.rawValue)")
        try await connection.monitoring.set(configuration)
    }

    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try check(.measure, metric, "measuring \(metric.rawValue)")
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

    func signalStrength() async -> Int? { await connection.link.signalStrength() }

    private func check(_ ability: Abilities, _ metric: Metric, _ what: String) throws(DeviceError) {
        guard description.capabilities.supports(ability, metric) else { throw .unsupported(what) }
    }
}
