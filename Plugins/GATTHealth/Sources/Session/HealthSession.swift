import GatewayKit
import Vitals

/// A conversation with a device that has services of the Bluetooth SIG.
final class HealthSession: GATTSession {
    let description: DeviceDescription
    private let connection: HealthConnection
    var conversation: GATTConversation { connection.conversation }

    init(_ connection: HealthConnection, _ description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try check(.history, of: request.metric, "the history of")
        let reader = request.metric == .bloodGlucose ? connection.glucoseRecords : connection.oximeterRecords
        guard let reader else { throw .unsupported("the history of \(request.metric.rawValue)") }
        return try await reader.page(request)
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await interval(of: metric).read()
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try await interval(of: configuration.metric).write(configuration)
    }

    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await connection.clock.set(now, utcOffset: utcOffset)
    }

    /// Reads a short value, so that a lost device is detected. One that lets nothing be read is watched by the link alone.
    func ping() async throws(DeviceError) {
        let device = connection.device
        let candidates = [device.battery, device.currentTime, device.measurementInterval]
        let readable = candidates.compactMap { $0 }.first { $0.properties.contains(.read) }
        // A refusal is an answer, too.
        do { _ = try await conversation.readIfPermitted(readable) } catch { throw DeviceError(error, "The device") }
    }

    private func interval(of metric: Metric) throws(DeviceError) -> ThermometerInterval {
        try check(.monitor, of: metric, "monitoring of")
        guard let interval = connection.interval else { throw .unsupported("monitoring of \(metric.rawValue)") }
        return interval
    }
}
