import GatewayTesting
import HomeAssistantStatistics
import Synchronization
import TestSupport
import Testing
import Vitals

/// The one rule of counts, over random runs of three days: after each import, of every row from the hour before the
/// first pending one on, sum minus state is the sum of the series at the row's last reset.
@Suite struct SumTests {
    /// Steps on their way to the gateway.
    private struct Parcel {
        var sample: Sample
        var arrival: Timestamp
    }

    /// A run that a seed decides.
    private struct RandomRun {
        let begin: Timestamp
        let end: Timestamp
        var parcels: [Parcel] = []
        /// When Home Assistant sees nothing: the broker, the device, or itself is offline.
        var gaps: [Range<Timestamp>] = []

        init(seed: UInt64, from begin: Timestamp) {
            var generator = SplitMix64(seed: seed)
            self.begin = begin
            end = begin + .days(3)
            for quarter in 0..<(3 * 96) where Bool.random(using: &generator) {
                let start = begin + .minutes(15 * quarter)
                let isLate = Int.random(in: 0..<8, using: &generator) == 0
                let delay = isLate ? Int.random(in: 60...2_000, using: &generator) : 0
                parcels.append(
                    Parcel(
                        sample: steps(Int.random(in: 1...300, using: &generator), start),
                        arrival: start + .minutes(16 + delay)))
            }
            parcels.sort { $0.arrival < $1.arrival }
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let start = begin + .minutes(5 * Int.random(in: 0..<800, using: &generator))
                gaps.append(start..<start + .minutes(5 * Int.random(in: 1...120, using: &generator)))
            }
        }
    }

    private struct Row: Hashable {
        var start: Timestamp
        var state: Double
        var sum: Double
        var since: Timestamp
    }

    private func rows(_ rows: [Timestamp: FakeHome.Row]) -> [Row] {
        rows.compactMap { start, row in
            guard let state = row.state, let sum = row.sum, let since = row.lastReset else { return nil }
            return Row(start: start, state: state, sum: sum, since: since)
        }.sorted { $0.start < $1.start }
    }

    /// At ten past midnight, at five past one, at half past two, and at five past noon.
    @Test(arguments: 1...3, ["23:10", "00:05", "01:30", "11:05"])
    func `sums are continuous, whatever is missing and whenever it comes`(seed: Int, clock: String) throws {
        let home = ImportTests.walking()
        let begin = time("2026-11-17T\(clock):00Z")
        let run = RandomRun(seed: UInt64(seed) &* 7919 &+ UInt64(begin.milliseconds / 60_000), from: begin)
        try ImportTests.run(home, start: begin, seed: UInt64(seed), deadline: .days(6)) {
            simulation, importer, store, _, _ in
            let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
            func midnight(_ moment: Timestamp) -> Timestamp {
                calendar.bounds(of: calendar.day(of: moment)).lowerBound
            }
            var parcels = run.parcels[...]
            var imports = 0
            // After the third day nothing is missing any more, and everything comes to rest.
            while simulation.date < run.end + .days(1) + .hours(12) {
                let period = Timestamp(milliseconds: simulation.date.milliseconds / 300_000 * 300_000)
                try await simulation.gatewayClock.sleep(for: period + .minutes(5) - simulation.date)
                let now = simulation.date
                while let next = parcels.first, next.arrival <= now {
                    try await store.add([next.sample], at: now)
                    parcels.removeFirst()
                }
                let isSeen = !run.gaps.contains { $0.contains(period) }
                if isSeen {
                    let since = midnight(period)
                    let counted = store.count(from: since, to: period + .minutes(5))
                    home.compile(ImportTests.count, counted, since: since, at: period)
                }
                if Hour(of: period).end == now { home.endHour(ImportTests.count, Hour(of: period)) }
                let last = Hour(of: now - .minutes(75)).advanced(by: -1)
                let pending = try await store.pending.filter {
                    ["", "steps"].contains($0.sensor) && $0.hours.lowerBound <= last
                }
                let before = rows(home.state.withLock { $0.hours[ImportTests.count] ?? [:] })
                let sent = home.state.withLock { $0.imports.count + $0.shifts }
                try await ImportTests.settle(simulation, importer, after: .seconds(25))
                guard home.state.withLock({ $0.imports.count + $0.shifts }) != sent,
                    let first = pending.map(\.hours.lowerBound).min()
                else { continue }
                imports += 1
                let isJoined = try await !store.pending.contains { $0.sensor == "steps" && $0.isJoining }
                // What the series is at a moment, from the row before the first pending hour.
                let anchor = before.last { $0.start < first.start }
                let zero = anchor?.since ?? first.start
                func sum(_ moment: Timestamp) -> Double {
                    let base = anchor.map { $0.sum - $0.state } ?? 0
                    return moment >= zero
                        ? base + store.count(from: zero, to: moment)
                        : base - store.count(from: moment, to: zero)
                }
                let hours = rows(home.state.withLock { $0.hours[ImportTests.count] ?? [:] })
                let five = rows(home.state.withLock { $0.fiveMinutes[ImportTests.count] ?? [:] })
                // The rows before the first pending hour are complete now.
                let gap = anchor.map { Hour(of: $0.start)..<max(first, Hour(of: $0.start)) }
                for hour in gap.map(Array.init) ?? [] where store.count(from: hour.start, to: hour.end) > 0 {
                    let state = store.count(from: midnight(hour.start), to: hour.end)
                    #expect(hours.contains { $0.start == hour.start && $0.state == state }, "\(hour) at \(now)")
                }
                for row in hours where row.start >= first.start && (isJoined || row.start < last.end) {
                    let wanted = sum(row.since)
                    #expect(abs(row.sum - row.state - wanted) < 1e-6, "\(row) at \(now): \(wanted)")
                    // Imported hours show everything.
                    guard row.start < last.end else { continue }
                    let end = row.start + .hours(1)
                    let state = store.count(from: row.since, to: end)
                    #expect(row.state == state, "\(row) at \(now)")
                }
                for row in five where row.start >= last.end && isJoined {
                    let wanted = sum(row.since)
                    #expect(abs(row.sum - row.state - wanted) < 1e-6, "\(row) at \(now): \(wanted)")
                }
            }
            #expect(try await store.pending.isEmpty)
            #expect(imports > 0)
            #expect(home.state.withLock { $0.imports.count } < 600)
        }
    }
}
