package import GatewayKit
import Synchronization
package import Vitals

extension ScriptedSession {
    /// The events that wait.
    package func nextEvents() async throws(DeviceError) -> [DeviceEvent]? { try await inbox.next() }

    /// Recorded.
    package func settle(_ receipts: [(receipt: SampleReceipt, refusal: DeviceError?)]) async throws(DeviceError) {
        try await receive(.settle(receipts.map(\.receipt), refusals: receipts.map(\.refusal)))
    }

    /// A page of the records. Its name is the number of records before it.
    package func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        try await receive(.history(request))
        try require(.history, request.metric, "reading the history of \(request.metric.rawValue)")
        let content = content
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

    /// Forgets the records, if the content says so.
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

    /// How the metric is monitored.
    package func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await receive(.monitorConfiguration(metric))
        try require(.monitor, metric, "monitoring of \(metric.rawValue)")
        return content.monitors[metric] ?? MonitorConfiguration()
    }

    /// Takes the parts that are there.
    package func setMonitorConfiguration(
        _ configuration: MonitorConfiguration, of metric: Metric
    ) async throws(DeviceError) {
        try await receive(.setMonitorConfiguration(configuration, metric))
        try require(.monitor, metric, "monitoring of \(metric.rawValue)")
        change { content in
            var all = content.monitors[metric] ?? MonitorConfiguration()
            if let part = configuration.schedule { all.schedule = part }
            if let part = configuration.alert { all.alert = part }
            if let part = configuration.restingAlert { all.restingAlert = part }
            if let part = configuration.exerciseAlert { all.exerciseAlert = part }
            if let part = configuration.exerciseMaximum { all.exerciseMaximum = part }
            if let part = configuration.pressureAlert { all.pressureAlert = part }
            content.monitors[metric] = all
        }
    }

    /// Starts the scripted measurement; a second one meanwhile is `busy`.
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
        started.yield(Start(id: id, metric: metric, duration: duration, script: script))
        return id
    }

    /// Ends the measurement before its time.
    package func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await receive(.stopMeasurement(measurement))
        await end(measurement, completed: false, error: nil)
    }

    /// Recorded.
    package func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await receive(.setClock(now, utcOffset: utcOffset))
    }

    /// Recorded.
    package func ping() async throws(DeviceError) { try await receive(.ping) }

    /// Recorded; a device that hangs does so here, too.
    package func shutdown() async {
        // A goodbye has no answer: an error of it is nobody's.
        try? await receive(.shutdown)
    }

    private func require(_ ability: Abilities, _ metric: Metric, _ what: String) throws(DeviceError) {
        guard description.capabilities.supports(ability, metric) else { throw .unsupported(what) }
    }
}
