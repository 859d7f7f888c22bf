import GatewayKit
import Vitals

/// A conversation with a ring.
final class O2Session: DeviceSession {
    let description: DeviceDescription
    private let connection: O2Connection

    init(_ connection: O2Connection, _ description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await connection.inbox.next() }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        guard description.capabilities.supports(.history, request.metric) else {
            throw .unsupported("the history of \(request.metric.rawValue)")
        }
        if request.page == nil { await connection.recordings.list(try await connection.information().files) }
        return try await connection.recordings.page(request)
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try check(metric)
        guard let alarm = O2Alarm(of: metric, in: try await connection.information()) else {
            throw DeviceError(.failure, "The ring did not report its limits of \(metric.rawValue).")
        }
        return try alarm.configuration()
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try check(configuration.metric)
        guard let alarm = try O2Alarm(configuration) else { return }
        _ = try await connection.queue.ask(.configure(alarm.values))
    }

    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        guard description.clock != nil else { throw .unsupported("setting the clock") }
        try await connection.setClock(now, utcOffset: utcOffset)
    }

    func ping() async throws(DeviceError) { _ = try await connection.queue.ask(OxiRequest(command: .ping)) }

    func signalStrength() async -> Int? { await connection.link.signalStrength() }

    private func check(_ metric: Metric) throws(DeviceError) {
        guard description.capabilities.supports(.alert, metric) else {
            throw .unsupported("monitoring of \(metric.rawValue)")
        }
    }
}
