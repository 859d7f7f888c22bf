import Engines
import GatewayKit
import Testing
import Vitals

/// The range of history that a synchronisation requests, and its reports of progress.
@Suite struct SyncRangeTests {
    private let capabilities = Capabilities(
        Dictionary(uniqueKeysWithValues: Metric.synchronised.map { ($0, [.history]) }))
    private let now = Fixture.noon

    private func started(
        _ metrics: [Metric], from: Timestamp? = nil, to: Timestamp? = nil
    ) -> (machine: SyncMachine, actions: [SyncMachine.Action]) {
        var machine = SyncMachine(policy: SyncPolicy(), calendar: Fixture.utc, lastSuccessAt: nil)
        let job = SyncJob(name: "c-1", metrics: metrics, from: from, to: to)
        let actions = machine.handle(
            .start(
                job, cursors: Dictionary(uniqueKeysWithValues: metrics.map { ($0, Fixture.minute(-60)) }),
                capabilities: capabilities), at: now)
        return (machine, actions)
    }

    private func request(_ actions: [SyncMachine.Action]) -> HistoryRequest? {
        actions.compactMap { if case .read(let request) = $0 { request } else { nil } }.first
    }

    @Test(arguments: Metric.synchronised)
    func `reads one metric from a start to an end, wherever its cursor is`(metric: Metric) {
        let (_, actions) = started([metric], from: now - .days(9), to: now - .days(2))
        #expect(request(actions) == HistoryRequest(metric: metric, from: now - .days(9), to: now - .days(2)))
    }

    @Test(arguments: Metric.synchronised)
    func `reads from a start until now, and what the device's clock is ahead`(metric: Metric) {
        let (_, actions) = started([metric], from: now - .days(9))
        #expect(
            request(actions)
                == HistoryRequest(metric: metric, from: now - .days(9), to: now + SyncPolicy.futureTolerance))
    }

    @Test func `says which metric is read, how many of how many are done, and what came so far`() {
        var (machine, _) = started([.heartRate, .stress])
        #expect(machine.state.job == "c-1")
        #expect(machine.state.startedAt == now)
        #expect((machine.state.metric, machine.state.metricsDone, machine.state.metricsTotal) == (.heartRate, 0, 2))
        let page = [Fixture.heartRate(60, at: -20), Fixture.heartRate(61, at: -10)]
        _ = machine.handle(.page(HistoryPage(samples: page, next: "a")), at: now)
        _ = machine.handle(.committed(new: 1, known: 1), at: now)
        #expect((machine.state.metric, machine.state.samplesNew, machine.state.samplesKnown) == (.heartRate, 1, 1))
        #expect((machine.state.oldest, machine.state.newest) == (Fixture.minute(-20), Fixture.minute(-10)))
        _ = machine.handle(.page(HistoryPage(samples: [])), at: now)
        _ = machine.handle(.committed(new: 0, known: 0), at: now)
        #expect((machine.state.metric, machine.state.metricsDone, machine.state.metricsTotal) == (.stress, 1, 2))
        _ = machine.handle(.page(HistoryPage(samples: [])), at: now)
        _ = machine.handle(.committed(new: 0, known: 0), at: now)
        #expect((machine.state.metric, machine.state.metricsDone, machine.state.phase) == (nil, 2, .idle))
    }

    @Test func `keeps a page that is in disorder in the order of time`() {
        var (machine, _) = started([.heartRate])
        let page = [-10, -30, -20].map { Fixture.heartRate(60, at: $0) }
        let actions = machine.handle(.page(HistoryPage(samples: page)), at: now)
        let taken = actions.flatMap { action -> [Sample] in
            if case .ingest(let samples, _, _, _) = action { samples } else { [] }
        }
        #expect(taken.map(\.start) == [-30, -20, -10].map { Fixture.minute($0) })
    }
}
