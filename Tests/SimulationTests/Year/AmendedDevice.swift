import GatewayKit
import Synchronization
import Vitals

/// A simulated wearable with additions that the simulator lacks: naps, values of other kinds, later corrections. It
/// records every sample that it delivers to the gateway.
final class AmendedDevice: Sendable {
    private struct State {
        var additions: [Sample]
        var corrections: [Key: Sample] = [:]
        var handedOver: [Key: Sample] = [:]
    }

    /// The identity of a record.
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

    /// - Parameter additions: records of its history in addition to the simulator's.
    init(id: DeviceID, additions: [Sample]) {
        self.id = id
        state = Mutex(State(additions: additions))
    }

    /// Every record delivered to the gateway, in its last version.
    var handedOver: [Sample] { state.withLock { Array($0.handedOver.values) } }

    /// The delivered records that count: of overlapping sleeps or workouts, only the one that ends last.
    var holding: [Sample] {
        let all = handedOver
        let long = Dictionary(grouping: all.filter { $0.metric == .sleep || $0.metric == .sport }, by: \.metric)
        return all.filter { sample in
            !(long[sample.metric] ?? []).contains { other in
                let overlap = other.start < sample.end && sample.start < other.end
                return overlap && (other.end, sample.start) > (sample.end, other.start)
            }
        }
    }

    /// Replaces the record with the same identity in the history.
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

    /// The page of history with additions and corrections.
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

/// A session with an amended wearable.
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

    func settle(_ receipts: [SettledReceipt]) async throws(DeviceError) {
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
    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        try await base.setMonitorConfiguration(configuration)
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
