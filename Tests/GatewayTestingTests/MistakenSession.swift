import GatewayKit
import GatewayTesting
import Synchronization
import Vitals

/// A session that does one thing wrong.
struct MistakenSession: DeviceSession {
    let session: ScriptedSession
    let mistake: Mistake
    private let isBroken = Shared(false)

    init(session: ScriptedSession, mistake: Mistake) {
        self.session = session
        self.mistake = mistake
    }

    var description: DeviceDescription { session.description }

    func nextEvents() async throws(DeviceError) -> [DeviceEvent]? {
        do {
            guard var events = try await session.nextEvents() else { return nil }
            switch mistake {
            case .swallowsEvents: events.removeAll { $0 == .wear(isWorn: true) }
            case .neverEndsMeasurements: events.removeAll { if case .measurementEnded = $0 { true } else { false } }
            case .completesStoppedMeasurements:
                events = events.map { event in
                    guard case .measurementEnded(let id, _, let error) = event else { return event }
                    return .measurementEnded(id, completed: true, error: error)
                }
            default: break
            }
            return events
        } catch {
            // A session that does not tell its end waits for ever.
            if mistake == .neverEnds { for await _ in AsyncStream<Never>.makeStream().stream {} }
            throw error
        }
    }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        var request = request
        let capabilities = description.capabilities
        if mistake == .answersWhatItCannot, !capabilities.supports(.history, request.metric) {
            return HistoryPage(samples: [])
        }
        if isBroken.value { throw DeviceError(.failure, "It is confused.") }
        if mistake == .breaksWhenCancelled {
            await Task.yield()
            if Task.isCancelled { isBroken.value = true }
        }
        if mistake == .includesTheEnd { request.to = request.to + .milliseconds(1) }
        if mistake == .ignoresTheLimit { request.limit = HistoryRequest.maximumLimit }
        if mistake == .repeatsThePage { request.page = nil }
        var page = try await session.history(request)
        switch mistake {
        case .repeatsRecords: page.samples += page.samples.suffix(1)
        case .descends: page.samples.reverse()
        case .losesRecords: if page.next == nil { page.samples = page.samples.dropLast() }
        default: break
        }
        return page
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        try await session.monitorConfiguration(of: metric)
    }

    func setMonitorConfiguration(
        _ configuration: MonitorConfiguration, of metric: Metric
    ) async throws(DeviceError) {
        switch mistake {
        case .ignoresConfigurations: break
        case .forgetsOtherParts: session.change { $0.monitors[metric] = configuration }
        default: try await session.setMonitorConfiguration(configuration, of: metric)
        }
    }

    func startMeasurement(of metric: Metric, duration: Duration) async throws(DeviceError) -> MeasurementID {
        do {
            return try await session.startMeasurement(of: metric, duration: duration)
        } catch {
            guard mistake == .acceptsTwoMeasurements, error.code == .busy else { throw error }
            return MeasurementID("another")
        }
    }

    func stopMeasurement(_ measurement: MeasurementID) async throws(DeviceError) {
        try await session.stopMeasurement(measurement)
    }

    func ping() async throws(DeviceError) {
        if isBroken.value { throw DeviceError(.failure, "It is confused.") }
        try await session.ping()
    }

    func shutdown() async {
        if mistake == .staysAtGoodbye { for await _ in AsyncStream<Never>.makeStream().stream {} }
        await session.shutdown()
    }
}

/// A value that several tasks share.
private final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}
