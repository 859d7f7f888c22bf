import Concurrency
package import GatewayKit
import Synchronization
package import Vitals

extension ScriptedSession {
    /// The waiting events.
    package func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    /// Records the call.
    package func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {
        try await receive(.settle(receipts.map(\.receipt), outcomes: receipts.map(\.outcome)))
    }

    /// A page of the records, named by the number of records before it.
    package func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try await receive(.history(request))
        try require(.history, request.metric, "reading the history of \(request.metric.rawValue)")
        let content = content
        if let pages = content.pages { return pages(request) }
        let records = (content.history[request.metric] ?? [])
            .filter { $0.start >= request.from && $0.start < request.to }
            .sorted { $0.start < $1.start }
        let position = request.page.map { Int($0) ?? -1 } ?? 0
        guard (0...records.count).contains(position) else {
            throw DeviceError(.invalid, "There is no page \(request.page ?? "").")
        }
        let page = records[position...].prefix(min(request.limit, content.pageLimit))
        return HistoryPage(samples: Array(page), next: page.endIndex < records.count ? "\(page.endIndex)" : nil)
    }

    /// Removes the acknowledged records, if the content says so.
    package func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        try await receive(.acknowledgeHistory(metric, through: through))
        change { content in
            if content.forgetsAcknowledged { content.history[metric]?.removeAll { $0.start <= through } }
        }
    }

    /// The summaries of these days.
    package func summaries(
        of metric: Metric, days: ClosedRange<LocalDay>
    ) async throws(DeviceError) -> [DailySummary] {
        try await receive(.summaries(metric, days))
        try require(.summary, metric, "daily summaries of \(metric.rawValue)")
        return (content.summaries[metric] ?? []).filter { days.contains($0.day) }.sorted { $0.day < $1.day }
    }

    /// The metric's monitoring configuration.
    package func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await receive(.monitorConfiguration(metric))
        try requireConfigurable(metric)
        return try monitor(of: metric)
    }

    /// Changes the parts that are present.
    package func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        let metric = configuration.metric
        try await receive(.setMonitorConfiguration(configuration))
        try requireConfigurable(metric)
        let all = try monitor(of: metric).replacingParts(with: configuration)
        change { content in content.monitors[metric] = all }
    }

    /// A device without a schedule may have limits.
    private func requireConfigurable(_ metric: Metric) throws(DeviceError) {
        guard description.capabilities.isConfigurable(metric) else {
            throw .unsupported("monitoring of \(metric.rawValue)")
        }
    }

    /// A metric's monitoring configuration, possibly without parts.
    private func monitor(of metric: Metric) throws(DeviceError) -> MonitorConfiguration {
        if let configuration = content.monitors[metric] { return configuration }
        do { return try MonitorConfiguration(of: metric) } catch {
            throw .unsupported("monitoring of \(metric.rawValue)")
        }
    }

    /// Starts the scripted measurement; a second one at the same time is `busy`.
    package func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try await receive(.startMeasurement(metric, duration))
        try require(.measure, metric, "measuring \(metric.rawValue)")
        let script = content.measurements[metric] ?? Measurement(readings: [])
        let id = state.withLock { state -> MeasurementID? in
            guard state.running == nil else { return nil }
            state.measurements += 1
            let id = MeasurementID("m\(state.measurements)")
            state.running = (id, metric)
            return id
        }
        guard let id else { throw DeviceError(.busy, "Another measurement is running.") }
        _ = starts.offer(Start(id: id, metric: metric, duration: duration, script: script))
        return id
    }

    /// Ends the measurement early.
    package func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await receive(.stopMeasurement(measurement))
        await end(measurement, completed: false, error: nil)
    }

    /// Records the call.
    package func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await receive(.setClock(now, utcOffset: utcOffset))
    }

    /// Records the call.
    package func ping() async throws(DeviceError) { try await receive(.ping) }

    /// The signal strength of the content.
    package func signalStrength() async -> Int? { content.signalStrength }

    /// Records the call; a device that hangs also hangs here.
    package func shutdown() async {
        // A graceful disconnect has no answer, so its error is ignored.
        try? await receive(.shutdown)
    }

    private func require(_ ability: Abilities, _ metric: Metric, _ what: String) throws(DeviceError) {
        guard description.capabilities.supports(ability, metric) else { throw .unsupported(what) }
    }
}
