import GatewayKit
import Synchronization
import Vitals

/// A simulated wearable as the gateway meets it, with what the simulator leaves out: naps, values of other kinds, records
/// that are corrected later. It notes every sample that it hands over.
final class AmendedDevice: Sendable {
    private struct State {
        var additions: [Sample]
        var corrections: [Key: Sample] = [:]
        var handedOver: [Key: Sample] = [:]
    }

    /// What makes two records the same one.
    struct Key: Hashable {
        var metric: Metric
        var start: Timestamp
        var end: Timestamp
        var isManual: Bool

        init(_ sample: Sample) {
            (metric, start, end, isManual) = (sample.metric, sample.start, sample.end, sample.isUserInitiated)
        }
    }

    let id: DeviceID
    private let state: Mutex<State>

    /// - Parameter additions: records of its history beside the simulator's.
    init(id: DeviceID, additions: [Sample]) {
        self.id = id
        state = Mutex(State(additions: additions))
    }

    /// Every record that the gateway was told, as it was told last.
    var handedOver: [Sample] { state.withLock { Array($0.handedOver.values) } }

    /// From now on the history has this content at the place of the record with the same identity.
    func correct(_ sample: Sample) {
        state.withLock { $0.corrections[Key(sample)] = sample }
    }

    func note(_ events: [DeviceEvent]) {
        for event in events {
            switch event {
            case .samples(let samples, _): note(samples)
            case .measurementSample(_, let sample): note([sample])
            default: break
            }
        }
    }

    private func note(_ samples: [Sample]) {
        state.withLock { state in
            for sample in samples { state.handedOver[Key(sample)] = sample }
        }
    }

    /// What the history is instead of the simulator's page.
    func amend(_ page: HistoryPage, of request: HistoryRequest, at now: Timestamp) -> HistoryPage {
        var page = page
        state.withLock { state in
            if page.next == nil {
                page.samples += state.additions.filter {
                    $0.metric == request.metric && request.from <= $0.start && $0.start < request.to && $0.end <= now
                }
            }
            guard !state.corrections.isEmpty else { return }
            page.samples = page.samples.map { state.corrections[Key($0)] ?? $0 }
        }
        note(page.samples)
        return page
    }
}

/// A session with such a wearable.
struct AmendedSession: DeviceSession {
    let base: any DeviceSession
    let device: AmendedDevice
    let clock: GatewayClock

    var description: DeviceDescription { base.description }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? {
        let events = try await base.nextEvents()
        device.note(events ?? [])
        return events
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        device.amend(try await base.history(request), of: request, at: clock.now)
    }

    func settle(_ receipts: [(receipt: SampleReceipt, refusal: DeviceError?)]) async throws(DeviceError) {
        try await base.settle(receipts)
    }
    func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        try await base.acknowledgeHistory(of: metric, through: through)
    }
    func summaries(of metric: Metric, days: ClosedRange<LocalDay>) async throws(DeviceError) -> [DailySummary] {
        try await base.summaries(of: metric, days: days)
    }
    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await base.monitorConfiguration(of: metric)
    }
    func setMonitorConfiguration(
        _ configuration: MonitorConfiguration, of metric: Metric
    ) async throws(DeviceError) {
        try await base.setMonitorConfiguration(configuration, of: metric)
    }
    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        try await base.startMeasurement(of: metric, duration: duration)
    }
    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await base.stopMeasurement(measurement)
    }
    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        try await base.setClock(now, utcOffset: utcOffset)
    }
    func ping() async throws(DeviceError) { try await base.ping() }
    func shutdown() async { await base.shutdown() }
}
