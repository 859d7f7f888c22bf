import Concurrency
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Vitals

/// A session with one fault.
struct FaultySession: DeviceSession {
    let session: ScriptedSession
    let fault: DriverFault
    let memory = Memory()

    init(session: ScriptedSession, fault: DriverFault) {
        self.session = session
        self.fault = fault
    }

    /// The state that a session needs for its fault.
    final class Memory: Sendable {
        struct State {
            var isConfused = false
            var held: [DeviceEvent] = []
            var overlapping = 0
        }
        let state = Mutex(State())
        /// The measurements that have ended.
        let ended = Recorder<MeasurementID>()
        private let end = Promise<Void>()

        /// Waits for the end, even if the task is cancelled.
        func waitForTheEnd() async { await end.waitUncancelled() }

        func endNow() { end.fulfil(()) }
    }

    /// Releases tasks that ignore cancellation.
    func letGo() { memory.endNow() }

    var description: DeviceDescription { session.description }

    func history(_ request: HistoryRequest) async throws(DeviceError) -> HistoryPage {
        var request = request
        switch fault {
        case .readsWhatItCannot where !description.capabilities.supports(.history, request.metric):
            return HistoryPage(samples: [])
        case .answersInSilence where request.to == Timestamp(seconds: 1): return HistoryPage(samples: [])
        case .breaksWhenCancelled:
            try requireSense()
            await Task.yield()
            if Task.isCancelled { memory.state.withLock { $0.isConfused = true } }
        case .includesTheEnd: request.to = request.to + .milliseconds(1)
        case .ignoresTheLimit: request.limit = HistoryRequest.maximumLimit
        case .repeatsThePage: request.page = nil
        default: break
        }
        do {
            return try await damaged(session.history(request), request)
        } catch {
            switch fault {
            case .answersAfterTheEnd where error.code == .disconnected: return HistoryPage(samples: [])
            case .failsWhenInterrupted where error.code == .disconnected: throw DeviceError(.failure, "It broke.")
            case .ignoresCancellation where Task.isCancelled: await memory.waitForTheEnd()
            default: break
            }
            throw error
        }
    }

    private func damaged(_ page: HistoryPage, _ request: HistoryRequest) async -> HistoryPage {
        var page = page
        switch fault {
        case .repeatsRecords: page.samples += page.samples.suffix(1)
        case .descends: page.samples.reverse()
        case .losesRecords: if page.next == nil { page.samples = page.samples.dropLast() }
        case .countsGoodRecords: page.malformed = 1
        case .answersEmptyRanges where page.samples.isEmpty:
            page.samples = session.content.history[request.metric].map { Array($0.prefix(1)) } ?? []
        case .mixesAnswers:
            memory.state.withLock { $0.overlapping += 1 }
            for _ in 0..<20 { await Task.yield() }
            let others = memory.state.withLock { state in
                state.overlapping -= 1
                return state.overlapping
            }
            if others > 0 { page = HistoryPage(samples: []) }
        default: break
        }
        return page
    }

    func acknowledgeHistory(of metric: Metric, through: Timestamp) async throws(DeviceError) {
        if fault == .keepsAcknowledgements { return }
        try await session.acknowledgeHistory(of: metric, through: through)
        if fault == .forgetsTooMuch { session.change { $0.history[metric] = [] } }
    }

    func summaries(of metric: Metric, days: ClosedRange<LocalDay>) async throws(DeviceError) -> [DailySummary] {
        if fault == .summarisesWhatItCannot, !description.capabilities.supports(.summary, metric) { return [] }
        var summaries = try await session.summaries(of: metric, days: days)
        if fault == .losesDays { summaries = summaries.dropLast() }
        if fault == .changesDays { for index in summaries.indices { summaries[index].count += 1 } }
        return summaries
    }

    func monitorConfiguration(of metric: Metric) async throws(DeviceError) -> MonitorConfiguration {
        if fault == .showsWhatItCannot, !description.capabilities.supports(.monitor, metric) {
            return MonitorConfiguration.fixture(of: .heartRate)
        }
        return try await session.monitorConfiguration(of: metric)
    }

    func setMonitorConfiguration(_ configuration: MonitorConfiguration) async throws(DeviceError) {
        let metric = configuration.metric
        switch fault {
        case .ignoresConfigurations: return
        case .forgetsOtherParts: return session.change { $0.monitors[metric] = configuration }
        case .setsWhatItCannot where !description.capabilities.supports(.monitor, metric): return
        case .changesWhenCancelled:
            await Task.yield()
            if Task.isCancelled { return session.change { $0.monitors[metric]?.schedule = nil } }
        default: break
        }
        do {
            try await session.setMonitorConfiguration(configuration)
        } catch {
            if fault == .takesNonsense, error.code == .invalid { return }
            if fault == .keepsNonsense { session.change { $0.monitors[metric] = configuration } }
            throw error
        }
    }

    func setClock(_ now: Timestamp, utcOffset: Int) async throws(DeviceError) {
        switch fault {
        case .ignoresTheClock: break
        case .addsTheOffset: try await session.setClock(now + .minutes(utcOffset), utcOffset: utcOffset)
        default: try await session.setClock(now, utcOffset: utcOffset)
        }
    }

    func ping() async throws(DeviceError) {
        try requireSense()
        try await session.ping()
    }

    func shutdown() async {
        switch fault {
        case .staysAtDisconnect: for await _ in AsyncStream<Never>.makeStream().stream {}
        case .leavesWithoutDisconnect: break
        default: await session.shutdown()
        }
    }

    private func requireSense() throws(DeviceError) {
        if memory.state.withLock({ $0.isConfused }) { throw DeviceError(.failure, "It is confused.") }
    }
}
