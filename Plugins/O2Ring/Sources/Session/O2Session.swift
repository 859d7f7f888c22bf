import GatewayKit
import Vitals

/// A conversation with a ring.
final class O2Session: GATTSession {
    let description: DeviceDescription
    private let connection: O2Connection
    var conversation: GATTConversation { connection.conversation }

    init(_ connection: O2Connection, _ description: DeviceDescription) {
        self.connection = connection
        self.description = description
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try check(.history, of: request.metric, "the history of")
        if request.page == nil {
            let information = try await connection.information()
            await connection.recordings.list(information.files)
            // Each list has the same ones again.
            let more = await connection.recordings.moreSkipped(information.skippedFiles)
            if more > 0 {
                let skipped = SkippedValues(
                    reason: "too_many", what: "recordings", count: more, limit: OxiInformation.mostFiles)
                await conversation.inbox.send([.skipped(skipped)])
            }
        }
        return try await connection.recordings.page(request)
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try check(.alert, of: metric, "monitoring of")
        guard let alarm = O2Alarm(of: metric, in: try await connection.information()) else {
            throw DeviceError(.failure, "The ring did not report its limits of \(metric.rawValue).")
        }
        return try alarm.configuration()
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try check(.alert, of: configuration.metric, "monitoring of")
        guard let alarm = try O2Alarm(configuration) else { return }
        _ = try await connection.queue.ask(.configure(alarm.values))
    }

    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        guard description.clock != nil else { throw .unsupported("setting the clock") }
        try await connection.setClock(now, utcOffset: utcOffset)
    }

    func ping() async throws(DeviceError) { _ = try await connection.queue.ask(OxiRequest(command: .ping)) }
}
