import Engines
import GatewayKit
import Testing
import Vitals

@Suite struct SyncMachineTests {
    private typealias Action = SyncMachine.Action
    private let capabilities = Capabilities([.heartRate: [.history], .stress: [.history], .sleep: [.history]])
    private let now = Fixture.noon

    private func machine(_ policy: SyncPolicy = SyncPolicy()) -> SyncMachine {
        SyncMachine(policy: policy, calendar: Fixture.utc, lastSuccessAt: nil)
    }

    private func start(
        _ machine: inout SyncMachine, _ metrics: [Metric] = [.heartRate], from: Timestamp? = nil, to: Timestamp? = nil,
        cursors: [Metric: Timestamp] = [:], capabilities: Capabilities? = nil
    ) -> [Action] {
        machine.handle(
            .start(
                SyncJob(name: "job", metrics: metrics, from: from, to: to, commands: ["c"]), cursors: cursors,
                capabilities: capabilities ?? self.capabilities), at: now)
    }

    private func started(
        _ metrics: [Metric] = [.heartRate], from: Timestamp? = nil, to: Timestamp? = nil,
        cursors: [Metric: Timestamp] = [:]
    ) -> SyncMachine {
        var machine = machine()
        _ = start(&machine, metrics, from: from, to: to, cursors: cursors)
        return machine
    }

    private func request(_ actions: [Action]) -> HistoryRequest? {
        actions.compactMap { if case .read(let request) = $0 { request } else { nil } }.first
    }

    private func cursor(_ actions: [Action]) -> Timestamp? {
        actions.compactMap { if case .ingest(_, _, let cursor, _) = $0 { cursor } else { nil } }.first
    }

    private func samples(_ actions: [Action]) -> [Sample] {
        actions.flatMap { action -> [Sample] in if case .ingest(let samples, _, _, _) = action { samples } else { [] } }
    }

    private func acknowledged(_ actions: [Action]) -> Timestamp? {
        actions.compactMap { if case .acknowledge(_, let through) = $0 { through } else { nil } }.first
    }

    private func finished(_ actions: [Action]) -> SyncState? {
        actions.compactMap { if case .finished(_, let state) = $0 { state } else { nil } }.first
    }

    private func page(_ minutes: [Int], next: String? = nil) -> SyncMachine.Event {
        .page(HistoryPage(samples: minutes.map { Fixture.heartRate(60 + Double(abs($0) % 50), at: $0) }, next: next))
    }

    @Test func `reads page by page, moves the cursor with each, and acknowledges at the end`() {
        var machine = machine()
        let first = start(&machine)
        #expect(request(first)?.from == now - .days(30))
        #expect(request(first)?.to == now + SyncPolicy.futureTolerance)
        #expect(first.first == .publish(machine.state))
        #expect(machine.state.phase == .syncing)
        let taken = machine.handle(page([-30, -20], next: "a"), at: now)
        #expect(samples(taken).count == 2)
        #expect(cursor(taken) == Fixture.minute(-30))
        let second = machine.handle(.committed(new: 2, known: 0), at: now)
        #expect(request(second)?.page == "a")
        #expect(acknowledged(second) == nil)
        #expect(cursor(machine.handle(page([-10]), at: now)) == Fixture.minute(-10))
        let end = machine.handle(.committed(new: 0, known: 1), at: now)
        #expect(acknowledged(end) == Fixture.minute(-10))
        #expect(end.contains(.finishedMetric(.heartRate)))
        let state = finished(end)
        #expect(state?.phase == .idle)
        #expect(state?.samplesNew == 2)
        #expect(state?.samplesKnown == 1)
        #expect(state?.lastSuccessAt == now)
        #expect(state?.oldest == Fixture.minute(-30))
        #expect(state?.newest == Fixture.minute(-10))
        #expect(machine.job == nil)
    }

    @Test(
        arguments: [
            (SyncPolicy(first: .days(7)), nil, nil, -7 * 1440),
            (SyncPolicy(first: .days(30)), nil, 5, -6 * 1440),
            (SyncPolicy(overlap: .minutes(10)), -60, nil, -70),
            (SyncPolicy(overlap: .zero), -60, nil, -60),
            (SyncPolicy(), -40 * 1440, 7, -8 * 1440),
            (SyncPolicy(), 365 * 1440, nil, -30 * 1440),
        ] as [(SyncPolicy, Int?, Int?, Int)]) func `begins where it has to`(
            policy: SyncPolicy, cursor: Int?, days: Int?, from: Int
        )
    {
        var machine = machine(policy)
        var capabilities = capabilities
        capabilities.maximumHistoryDays = days
        let cursors = cursor.map { [Metric.heartRate: Fixture.minute($0)] } ?? [:]
        #expect(request(start(&machine, cursors: cursors, capabilities: capabilities))?.from == Fixture.minute(from))
    }

    @Test func `reads everything where it is asked to, and looks two days back for what lasts`() {
        var all = machine(SyncPolicy(first: nil))
        #expect(request(start(&all))?.from == SyncPolicy.epoch)
        var sleep = machine()
        let actions = start(&sleep, [.sleep], cursors: [.sleep: now - .hours(1)])
        #expect(request(actions)?.from == now - .hours(1) - .days(2))
    }

    @Test func `a device that was offline for longer than its history is read on`() {
        var machine = machine()
        var capabilities = capabilities
        capabilities.maximumHistoryDays = 7
        _ = start(&machine, cursors: [.heartRate: now - .days(40)], capabilities: capabilities)
        #expect(cursor(machine.handle(page([-60]), at: now)) == Fixture.minute(-60))
    }

    @Test func `the cursor never moves back, and not for what is known`() {
        var machine = started(cursors: [.heartRate: Fixture.minute(-60)])
        #expect(cursor(machine.handle(page([-65, -60], next: "a"), at: now)) == nil)
        _ = machine.handle(.committed(new: 0, known: 2), at: now)
        #expect(cursor(machine.handle(page([-70, -50]), at: now)) == Fixture.minute(-50))
    }

    @Test func `a cursor from a clock that ran ahead is replaced`() {
        var machine = started(cursors: [.heartRate: now + .days(400)])
        #expect(cursor(machine.handle(page([-10]), at: now)) == Fixture.minute(-10))
    }

    @Test func `a range that begins behind the cursor moves nothing and acknowledges nothing`() {
        var machine = started(from: Fixture.minute(-30), cursors: [.heartRate: Fixture.minute(-60)])
        #expect(cursor(machine.handle(page([-20]), at: now)) == nil)
        #expect(acknowledged(machine.handle(.committed(new: 1, known: 0), at: now)) == nil)
    }

    @Test func `a range that covers the cursor moves it`() {
        var machine = started(from: Fixture.minute(-90), cursors: [.heartRate: Fixture.minute(-60)])
        #expect(cursor(machine.handle(page([-80, -20]), at: now)) == Fixture.minute(-20))
        #expect(acknowledged(machine.handle(.committed(new: 2, known: 0), at: now)) == Fixture.minute(-20))
    }

    @Test func `a range before anything was read moves nothing`() {
        var machine = started(from: now - .days(2), to: now - .days(1))
        #expect(cursor(machine.handle(page([-2000]), at: now)) == nil)
    }

    @Test func `records outside of the range are kept, but do not move the cursor`() {
        var machine = started(from: now - .days(60), to: Fixture.minute(-100))
        let actions = machine.handle(page([-120, -10]), at: now)
        #expect(samples(actions).count == 2)
        #expect(cursor(actions) == Fixture.minute(-120))
    }

    @Test func `a record that is still to come is skipped, and neither cursor nor acknowledgement pass it`() {
        var machine = started()
        let night = Sample(metric: .heartRate, start: Fixture.minute(-30), end: Fixture.minute(60), reading: .value(50))
        let before = Fixture.heartRate(60, at: -40)
        let after = Fixture.heartRate(61, at: -20)
        let actions = machine.handle(.page(HistoryPage(samples: [before, night, after], next: "a")), at: now)
        #expect(samples(actions) == [before, after])
        #expect(cursor(actions) == nil)
        _ = machine.handle(.committed(new: 2, known: 0), at: now)
        #expect(cursor(machine.handle(page([-10]), at: now)) == Fixture.minute(-40))
        let end = machine.handle(.committed(new: 1, known: 0), at: now)
        #expect(acknowledged(end) == Fixture.minute(-40))
        #expect(finished(end)?.rows.first?.postponed == 1)
        #expect(finished(end)?.error == nil)
    }

    @Test func `a record of the next minutes carries neither cursor nor acknowledgement ahead of the clock`() {
        var machine = machine(SyncPolicy(overlap: .zero))
        _ = start(&machine)
        #expect(cursor(machine.handle(page([3]), at: now)) == now)
        #expect(acknowledged(machine.handle(.committed(new: 1, known: 0), at: now)) == now)
    }

    @Test func `nothing is acknowledged that began with a record which is still to come`() {
        var machine = started()
        _ = machine.handle(page([-40, -30], next: "a"), at: now)
        _ = machine.handle(.committed(new: 2, known: 0), at: now)
        let night = Sample(metric: .heartRate, start: Fixture.minute(-30), end: Fixture.minute(60), reading: .value(50))
        _ = machine.handle(.page(HistoryPage(samples: [night])), at: now)
        #expect(acknowledged(machine.handle(.committed(new: 0, known: 0), at: now)) == Fixture.minute(-40))
    }

    @Test func `invalid records and those of another metric are skipped`() {
        var machine = started()
        let samples = [
            Fixture.heartRate(500, at: -3), Fixture.sample(.stress, 20, at: -2), Fixture.heartRate(60, at: -1),
        ]
        #expect(self.samples(machine.handle(.page(HistoryPage(samples: samples)), at: now)) == [samples[2]])
    }

    @Test func `nothing that may begin the next page is acknowledged when it fails`() {
        var machine = started()
        _ = machine.handle(page([-30, -20, -10], next: "a"), at: now)
        _ = machine.handle(.committed(new: 3, known: 0), at: now)
        let actions = machine.handle(.failed(.deviceError, "broken record"), at: now)
        #expect(acknowledged(actions) == Fixture.minute(-20))
        #expect(finished(actions)?.phase == .failed)
    }

    @Test func `nothing is acknowledged where it is not wanted`() {
        var machine = machine(SyncPolicy(acknowledges: false))
        _ = start(&machine)
        _ = machine.handle(page([-10]), at: now)
        #expect(acknowledged(machine.handle(.committed(new: 1, known: 0), at: now)) == nil)
    }

    @Test func `an empty history is done at once`() {
        var machine = started()
        #expect(cursor(machine.handle(.page(HistoryPage(samples: [])), at: now)) == nil)
        let end = machine.handle(.committed(new: 0, known: 0), at: now)
        #expect(finished(end)?.phase == .idle)
        #expect(acknowledged(end) == nil)
        var nothing = self.machine()
        #expect(finished(start(&nothing, []))?.phase == .idle)
    }

    @Test func `a metric that fails does not stop the others`() {
        var machine = started([.heartRate, .stress])
        let next = machine.handle(.failed(.unsupported, "no"), at: now)
        #expect(request(next)?.metric == .stress)
        _ = machine.handle(.page(HistoryPage(samples: [])), at: now)
        let state = finished(machine.handle(.committed(new: 0, known: 0), at: now))
        #expect(state?.failed == [.init(metric: .heartRate, code: .unsupported, message: "no")])
        #expect(state?.metricsDone == 2)
        #expect(state?.rows.map(\.state) == [.failed, .done])
        #expect(state?.error == "heart_rate: no")
        #expect(state?.lastSuccessAt == nil)
    }

    @Test func `a lost device fails what is left`() {
        var machine = machine()
        #expect(machine.handle(.disconnected, at: now) == [])
        _ = start(&machine, [.heartRate, .stress])
        _ = machine.handle(page([-10], next: "a"), at: now)
        let state = finished(machine.handle(.disconnected, at: now))
        #expect(state?.failed.map(\.metric) == [.heartRate, .stress])
        #expect(state?.failed.map(\.code) == [.offline, .offline])
        #expect(state?.phase == .failed)
        #expect(machine.handle(.committed(new: 1, known: 0), at: now) == [])
        #expect(machine.handle(page([-5]), at: now) == [])
        #expect(machine.handle(.disconnected, at: now) == [])
    }

    @Test func `a device that goes round in circles is stopped`() {
        func failure(_ pages: [([Int], String?)]) -> String? {
            var machine = machine()
            _ = start(&machine)
            for (minutes, next) in pages {
                let actions = machine.handle(page(minutes, next: next), at: now)
                if let state = finished(actions) { return state.failed.first?.message }
                if let state = finished(machine.handle(.committed(new: 0, known: 0), at: now)) {
                    return state.failed.first?.message
                }
            }
            return nil
        }
        #expect(failure([([-30], "a"), ([-20], "a")])?.contains("already sent") == true)
        #expect(failure([([-30], "a"), ([-20], "b"), ([-10], "a")])?.contains("already sent") == true)
        #expect(failure([([-30], "a"), ([-30], "b")])?.contains("same page") == true)
        let empty = (0...SyncPolicy.maximumEmptyPages).map { ([Int](), Optional("\($0)")) }
        #expect(failure(empty)?.contains("empty pages") == true)
        #expect(failure(empty.dropLast() + [([], nil)]) == nil)
        let endless = (1...SyncPolicy.maximumPages).map { ([-$0 % 1000], Optional("\($0)")) }
        #expect(failure(endless)?.contains("no end") == true)
        #expect(failure(endless.dropLast() + [([-1], nil)]) == nil)
    }

    @Test func `progress is published at most every two seconds, results always`() {
        var machine = machine()
        func published(_ actions: [Action]) -> Int {
            actions.count { if case .publish = $0 { true } else { false } }
        }
        #expect(published(start(&machine)) == 1)
        var count = 0
        for step in 1...100 {
            let time = now + .milliseconds(100 * step)
            count += published(machine.handle(page([-200 + step], next: "\(step)"), at: time))
            count += published(machine.handle(.committed(new: 1, known: 0), at: time))
        }
        #expect(count == 5)
        _ = machine.handle(page([-10]), at: now + .seconds(10))
        #expect(published(machine.handle(.committed(new: 1, known: 0), at: now + .seconds(10))) == 1)
        // Setting the clock back does not stop its publications.
        #expect(published(start(&machine)) == 1)
        _ = machine.handle(page([-9], next: "x"), at: now - .hours(5))
        #expect(published(machine.handle(.committed(new: 1, known: 0), at: now - .hours(5))) == 1)
    }
}
