import Engines
import GatewayKit
import Testing
import Vitals

/// Impossible records and metrics that the device does not have, and their effect on the others.
@Suite struct SyncRefusalTests {
    private typealias Action = SyncMachine.Action
    private let now = Fixture.noon

    private func machine() -> SyncMachine {
        SyncMachine(policy: SyncPolicy(), calendar: Fixture.utc, lastSuccessAt: nil)
    }

    private func start(
        _ machine: inout SyncMachine, _ metrics: [Metric] = [.heartRate], from: Timestamp? = nil,
        cursors: [Metric: Timestamp] = [:]
    ) -> [Action] {
        let capabilities = Capabilities([.heartRate: [.history], .stress: [.history, .summary]])
        return machine.handle(
            .start(SyncJob(name: "job", metrics: metrics, from: from), cursors: cursors, capabilities: capabilities),
            at: now)
    }

    private func started(_ metrics: [Metric] = [.heartRate]) -> SyncMachine {
        var machine = machine()
        _ = start(&machine, metrics)
        return machine
    }

    /// Reads a page, and returns the actions that follow.
    @discardableResult
    private func read(_ machine: inout SyncMachine, _ page: HistoryPage, at now: Timestamp? = nil) -> [Action] {
        let now = now ?? self.now
        return machine.handle(.page(page), at: now) + machine.handle(.committed(new: 0, known: 0), at: now)
    }

    private func cursor(_ actions: [Action]) -> Timestamp? {
        actions.compactMap { if case .ingest(_, _, let cursor, _) = $0 { cursor } else { nil } }.first
    }

    private func gaps(_ actions: [Action]) -> [Gap] {
        actions.compactMap { action in
            switch action {
            case .ingest(_, _, _, let gap): gap
            case .report(let gap, _, _): gap
            default: nil
            }
        }
    }

    private static func backwards(at minute: Int) -> Sample {
        Sample(metric: .heartRate, start: Fixture.minute(minute), end: Fixture.minute(minute - 1), reading: .value(60))
    }

    private static func forEver(at minute: Int) -> Sample {
        Sample(
            metric: .heartRate, start: Fixture.minute(minute), end: Fixture.minute(minute) + .days(8),
            reading: .value(60))
    }

    private static let mixed = HistoryPage(
        samples: [
            forEver(at: -20_000), backwards(at: -30), Fixture.heartRate(900, at: -25), Fixture.heartRate(901, at: -24),
            Fixture.heartRate(60, at: -20), Fixture.sample(.stress, 20, at: -15),
        ], malformed: 2)

    @Test func `what is refused is counted by its reason, in the row and in a gap`() throws {
        var machine = started()
        let end = read(&machine, Self.mixed)
        let row = try #require(machine.state.rows.first)
        let reasons: [RefusalReason: Int] = [.tooLong: 1, .endBeforeStart: 1, .outOfRange: 2, .malformed: 3]
        #expect(row.state == .done)
        #expect(row.refused.counts == reasons)
        #expect(row.refused.count == 7)
        #expect(machine.state.error == nil)
        let gap = try #require(gaps(end).first)
        #expect((gap.metric, gap.count, gap.reason) == (.heartRate, 7, .refused))
        #expect(gap.refused == reasons)
        #expect(gap.from == Fixture.minute(-20_000))
        #expect(gap.to == Fixture.minute(-24))
    }

    @Test func `what was refused is reported once, whatever it is read again with`() {
        var machine = started()
        #expect(gaps(read(&machine, Self.mixed)).count == 1)
        _ = start(&machine)
        #expect(gaps(read(&machine, Self.mixed)) == [])
        var more = Self.mixed
        more.samples.append(Fixture.heartRate(902, at: -1))
        more.malformed += 1
        _ = start(&machine)
        #expect(gaps(read(&machine, more)).map(\.refused) == [[.outOfRange: 1, .malformed: 1]])
        // After a restart the cursor says how far the history was read.
        var restarted = self.machine()
        _ = start(&restarted, cursors: [.heartRate: Fixture.minute(-1)])
        #expect(gaps(read(&restarted, HistoryPage(samples: more.samples))).map(\.refused) == [[.malformed: 1]])
        // A command for a range reports all refused records in it.
        _ = start(&restarted, from: now - .days(30))
        #expect(gaps(read(&restarted, Self.mixed)).map(\.count) == [7])
    }

    @Test func `what has no time is announced once, also after a synchronisation that broke`() {
        var machine = started()
        let page = HistoryPage(samples: [Fixture.heartRate(900, at: 90_000)], malformed: 4)
        #expect(gaps(read(&machine, page)).map(\.refused) == [[.outOfRange: 1, .malformed: 4]])
        _ = start(&machine)
        _ = machine.handle(.failed(.deviceError, "Not now."), at: now)
        _ = start(&machine)
        #expect(gaps(read(&machine, page)) == [])
        // A record with a far start does not hide those that come after it.
        _ = start(&machine)
        var more = page
        more.samples.append(Fixture.heartRate(901, at: -5))
        #expect(gaps(read(&machine, more)).map(\.refused) == [[.outOfRange: 1]])
    }

    @Test func `the cursor passes what is refused`() {
        var machine = started()
        let page = HistoryPage(samples: [Fixture.heartRate(60, at: -20), Fixture.heartRate(900, at: -10)])
        #expect(cursor(machine.handle(.page(page), at: now)) == Fixture.minute(-10))
        var ahead = self.machine()
        _ = start(&ahead)
        let wrong = HistoryPage(samples: [Fixture.heartRate(60, at: -20), Fixture.heartRate(900, at: 90)])
        #expect(cursor(ahead.handle(.page(wrong), at: now)) == Fixture.minute(-20))
    }

    private static let unreported = HistoryPage(
        samples: [
            Fixture.heartRate(60, at: -50), Fixture.heartRate(900, at: -45), Fixture.heartRate(901, at: -40),
            Fixture.heartRate(902, at: -40),
        ], next: "a")

    @Test func `the cursor passes refused records only in the commit of their gap`() {
        var machine = started()
        let first = read(&machine, Self.unreported)
        #expect(cursor(first) == nil && gaps(first) == [])
        let last = read(&machine, HistoryPage(samples: [Fixture.heartRate(903, at: -30)]))
        #expect(cursor(last) == Fixture.minute(-30))
        #expect(gaps(last).map(\.count) == [4])
    }

    @Test func `a long reading announces now and then, except at the newest start`() {
        var machine = started()
        read(&machine, Self.unreported)
        let next = HistoryPage(
            samples: [Fixture.heartRate(903, at: -40), Fixture.heartRate(904, at: -30)], next: "b", malformed: 1)
        let later = read(&machine, next, at: now + SyncPolicy.refusalInterval)
        #expect(cursor(later) == Fixture.minute(-40))
        #expect(gaps(later).map(\.refused) == [[.outOfRange: 4, .malformed: 1]])
        let end = read(&machine, HistoryPage(samples: []), at: now + SyncPolicy.refusalInterval)
        #expect(cursor(end) == Fixture.minute(-30))
        #expect(gaps(end).map(\.refused) == [[.outOfRange: 1]])
    }

    @Test(arguments: [true, false]) func `a reading that fails announces what is on disk, else it is read again`(
        isStored: Bool
    ) {
        var machine = started([.heartRate, .stress])
        read(&machine, Self.unreported)
        let failed = machine.handle(.failed(.deviceError, "Not now."), at: now)
        let gap = gaps(failed).first
        #expect(failed == gap.map { [.report($0, metric: .heartRate, cursor: Fixture.minute(-45))] })
        #expect(gap?.count == 1)
        let then = machine.handle(.reported(isStored: isStored), at: now)
        // After the acknowledgement a device may forget its records.
        #expect(then.contains(.acknowledge(.heartRate, through: Fixture.minute(-45))) == isStored)
        #expect(then.contains { if case .read(let request) = $0 { request.metric == .stress } else { false } })
        read(&machine, HistoryPage(samples: []))
        _ = start(&machine, cursors: isStored ? [.heartRate: Fixture.minute(-45)] : [:])
        var page = Self.unreported
        page.next = nil
        #expect(gaps(read(&machine, page)).map(\.count) == [isStored ? 2 : 3])
    }

    @Test func `a lost device announces what is on disk, too`() {
        var machine = started()
        read(&machine, Self.unreported)
        let lost = machine.handle(.disconnected, at: now)
        #expect(gaps(lost).map(\.count) == [1])
        #expect(lost.contains { if case .finished = $0 { true } else { false } })
        #expect(machine.handle(.reported(isStored: true), at: now) == [])
        _ = start(&machine, cursors: [.heartRate: Fixture.minute(-45)])
        var page = Self.unreported
        page.next = nil
        #expect(gaps(read(&machine, page)).map(\.count) == [2])
    }

    @Test(arguments: [true, false]) func `however many are refused, the next good record is read`(isReadable: Bool) {
        var machine = started()
        let pages = 3_000
        for page in 0..<pages {
            let bad =
                isReadable
                ? HistoryPage(samples: (0..<10).map { _ in Fixture.heartRate(900, at: page - 5_000) }, next: "\(page)")
                : HistoryPage(samples: [], next: "\(page)", malformed: 10)
            #expect(machine.handle(.page(bad), at: now).count == 1)
            let next = machine.handle(.committed(new: 0, known: 0), at: now)
            #expect(next.contains { if case .read = $0 { true } else { false } })
        }
        let taken = machine.handle(.page(HistoryPage(samples: [Fixture.heartRate(60, at: -1)])), at: now)
        #expect(cursor(taken) == Fixture.minute(-1))
        _ = machine.handle(.committed(new: 1, known: 0), at: now)
        let row = machine.state.rows.first
        #expect(row?.state == .done && row?.new == 1 && row?.refused.count == 10 * pages)
    }

    @Test func `refused records that are all alike fill any number of pages, as an erased memory does`() throws {
        var machine = started()
        let erased = Array(repeating: Fixture.heartRate(0, at: -30), count: 500)
        for number in 1...20 { read(&machine, HistoryPage(samples: erased, next: "\(number)")) }
        let end = read(&machine, HistoryPage(samples: [Fixture.heartRate(60, at: -10)], next: nil))
        let row = try #require(machine.state.rows.first)
        #expect(row.state == .done)
        #expect(row.refused.counts == [.outOfRange: 10_000])
        #expect(cursor(end) == Fixture.minute(-10))
    }

    @Test func `a metric that the device does not have is unsupported, and the others are read`() {
        var machine = machine()
        let actions = start(&machine, [.sleep, .heartRate])
        #expect(actions.contains { if case .read(let request) = $0 { request.metric == .heartRate } else { false } })
        _ = read(&machine, HistoryPage(samples: []))
        #expect(machine.state.rows.map(\.state) == [.unsupported, .done])
        #expect(machine.state.rows.first?.error?.code == .unsupported)
        #expect((machine.state.phase, machine.state.error, machine.state.metricsDone) == (.idle, nil, 2))
    }

    @Test func `summaries that cannot be read fail their metric, and its records stay`() {
        var machine = started([.stress])
        let end = read(&machine, HistoryPage(samples: [Fixture.sample(.stress, 20, at: -1)]))
        #expect(end.contains { if case .summarise(.stress, _) = $0 { true } else { false } })
        let failed = machine.handle(.failed(.busy, "Not now."), at: now)
        #expect(failed.contains(.finishedMetric(.stress)))
        #expect(machine.state.rows.map(\.state) == [.failed])
        #expect(machine.state.failed.map(\.message) == ["The device's own summaries: Not now."])
    }

    @Test(
        arguments: [
            (-10, -5, true, [6]), (-10, nil, true, [11]), (-200, nil, true, [90, 90, 21]), (-200, nil, false, [90]),
            (-300, -200, false, []), (-300, -200, true, [90, 11]),
        ] as [(Int, Int?, Bool, [Int])])
    func `summaries are asked for as far back as asked, and ninety days otherwise`(
        from: Int, to: Int?, isAsked: Bool, days: [Int]
    ) {
        let parts = SyncPolicy.summaryDays(
            from: now + .days(from), to: to.map { now + .days($0) }, isAsked: isAsked, calendar: Fixture.utc, at: now)
        #expect(parts.map { $0.upperBound.number - $0.lowerBound.number + 1 } == days)
        for (one, next) in zip(parts, parts.dropFirst()) {
            #expect(next.lowerBound == one.upperBound.advanced(by: 1))
        }
    }
}
