import GatewayKit
import Vitals

/// A conversation with a device that has services of the Bluetooth SIG.
final class HealthSession: DeviceSession {
    let description: DeviceDescription
    private let connection: HealthConnection

    init(_ connection: HealthConnection, _ description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await connection.inbox.next() }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        guard description.capabilities.supports(.history, request.metric) else {
            throw .unsupported("the history of \(request.metric.rawValue)")
        }
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
        guard let readable = candidates.compactMap({ $0 }).first(where: { $0.properties.contains(.read) }) else {
            return
        }
        do { _ = try await connection.link.read(readable) } catch .refused {
            // An answer all the same.
        } catch {
            throw DeviceError(error, "The device")
        }
    }

    func signalStrength() async -> Int? { await connection.link.signalStrength() }

    private func interval(of metric: Metric) throws(DeviceError) -> ThermometerInterval {
        guard description.capabilities.supports(.monitor, metric), let interval = connection.interval else {
            throw .unsupported("monitoring of \(metric.rawValue)")
        }
        return interval
    }
}
