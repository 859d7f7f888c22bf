import GatewayTesting
import HomeAssistantStatistics
import Synchronization
import TestSupport
import Testing
import Vitals

/// Where the imported hours of a count and Home Assistant's own rows meet. Hours count from midnight in Berlin.
@Suite struct SumContinuationTests {
    private static let midnight = ImportTests.midnight
    private static let count = ImportTests.count

    /// Compiles the five minutes from `hour`:`minute` of the day.
    private func compile(_ home: FakeHome, _ hour: Int, _ minute: Int, _ count: Double, day: Timestamp = midnight) {
        home.compile(Self.count, count, since: day, at: day + .hours(hour) + .minutes(minute))
    }

    private func sums(_ home: FakeHome) -> [Double?] {
        home.state.withLock { ($0.fiveMinutes[Self.count] ?? [:]).sorted { $0.key < $1.key }.map(\.value.sum) }
    }

    @Test func `hours that are all too new change nothing, however often it checks`() throws {
        let home = ImportTests.walking()
        for hour in 8...10 { compile(home, hour, 55, Double(hour * 100)) }
        compile(home, 11, 0, 1_000)
        try ImportTests.run(home, start: Self.midnight + .hours(12) + .minutes(5)) {
            simulation, importer, store, _, _ in
            // Home Assistant did not see 50 of 10:30, and 200 of 11:45 come late.
            try await store.add(
                [
                    steps(800, Self.midnight + .hours(8)), steps(100, Self.midnight + .hours(9)),
                    steps(150, Self.midnight + .hours(10)),
                ], at: Self.midnight + .hours(8))
            try await store.add([steps(200, Self.midnight + .hours(11) + .minutes(30))], at: simulation.date)
            let (before, own) = (home.rows(Self.count, from: Self.midnight), sums(home))
            for _ in 0..<5 {
                try await ImportTests.settle(simulation, importer)
                #expect(home.rows(Self.count, from: Self.midnight) == before)
                #expect(sums(home) == own)
                try await simulation.gatewayClock.sleep(for: .minutes(1))
            }
            // They wait until they are old enough, and no conversation is opened for them.
            #expect(try await store.pending.map(\.hours.lowerBound) == [Hour(of: Self.midnight + .hours(11))])
            #expect(home.state.withLock { $0.logins } == 1)
        }
    }

    @Test(arguments: [true, false])
    func `what Home Assistant's own rows lack before the first pending hour is not lost`(hasShortRow: Bool) throws {
        let home = ImportTests.walking()
        // It begins with a sum of zero at 10,000 of yesterday, so that today exceeds the state by nothing.
        compile(home, 23, 50, 0, day: ImportTests.yesterday)
        compile(home, 23, 55, 10_000, day: ImportTests.yesterday)
        compile(home, 9, 55, 2_000)
        // The broker is offline from 10:00, or from 10:20, to 12:00.
        if hasShortRow {
            compile(home, 10, 15, 2_100)
            home.endHour(Self.count, Hour(of: Self.midnight + .hours(10)))
        }
        try ImportTests.run(home, start: Self.midnight + .hours(12)) { simulation, importer, store, _, _ in
            try await importer.importPending()
            try await store.add([steps(10_000, ImportTests.yesterday + .hours(20))], at: ImportTests.yesterday)
            for (hour, number) in [(9, 2_000), (10, 500), (11, 300)] {
                let moment = Self.midnight + .hours(hour)
                try await store.add([steps(number, moment)], at: moment)
            }
            compile(home, 12, 0, 2_800)
            try await store.add([steps(100, Self.midnight + .hours(11) + .minutes(30))], at: simulation.date)
            compile(home, 12, 5, 2_900)
            try await simulation.gatewayClock.sleep(for: .hours(2) + .minutes(16))
            compile(home, 13, 0, 2_900)
            compile(home, 14, 10, 2_900)
            try await importer.importPending()
            let rows = home.rows(Self.count, from: Self.midnight)
            #expect(rows[9]?.sum == 12_000)
            #expect(rows[10]?.sum == 12_500)
            #expect(rows[11]?.sum == 12_900)
            #expect(sums(home).last == 12_900)
            #expect(try await store.pending.isEmpty)
        }
    }

    @Test func `an import is over only when Home Assistant goes on from it, also on the next day`() throws {
        let home = ImportTests.walking()
        let monday = Self.midnight
        compile(home, 19, 50, 0)
        compile(home, 19, 55, 9_000)
        try ImportTests.run(home, start: monday + .hours(21) + .minutes(10)) { simulation, importer, store, states, _ in
            // The newest row is from before the broker went offline.
            try await store.add([steps(9_000, monday + .hours(19))], at: monday + .hours(19))
            try await store.add([steps(500, monday + .hours(20))], at: simulation.date)
            try await ImportTests.settle(simulation, importer, after: .minutes(66))
            #expect(home.rows(Self.count, from: monday)[20]?.sum == 9_500)
            // It checks again at most once in an hour, and imports no hours in which nothing happened.
            let writes = store.writes
            for _ in 0..<36 {
                try await ImportTests.settle(simulation, importer, after: .minutes(15))
            }
            #expect(try await store.pending.map(\.isJoining) == [true])
            #expect(store.writes == writes)
            #expect(states.elements.last?.due == 0)
            #expect(home.rows(Self.count, from: monday).keys.max() == 20)
            #expect(home.state.withLock { $0.logins } < 20)
            // On Tuesday morning the count has begun anew.
            try await store.add([steps(200, monday + .hours(31))], at: monday + .hours(31))
            home.compile(Self.count, 200, since: monday + .days(1), at: monday + .hours(31) + .minutes(15))
            #expect(sums(home).last == 9_200)
            try await ImportTests.settle(simulation, importer, after: .hours(1))
            #expect(sums(home).last == 9_700)
            #expect(try await store.pending.allSatisfy { !$0.isJoining })
        }
    }

    @Test func `a count near the end of its retention keeps its sums`() throws {
        let home = ImportTests.walking()
        // Home Assistant has one row of nine days ago. Of that time no sample is left.
        let old = Self.midnight - .days(9)
        home.compile(Self.count, 0, since: old, at: old + .hours(8) + .minutes(50))
        home.compile(Self.count, 700, since: old, at: old + .hours(8) + .minutes(55))
        try ImportTests.run(home, retention: .days(7)) { simulation, importer, store, _, _ in
            try await store.add([steps(40, Self.midnight + .hours(8))], at: simulation.date)
            compile(home, 11, 55, 40)
            try await ImportTests.settle(simulation, importer)
            let rows = home.rows(Self.count, from: old)
            #expect(rows[8]?.state == 700)
            #expect(rows.keys.filter { $0 < 9 * 24 } == [8])
            #expect(rows[9 * 24 + 8]?.sum == 740)
            #expect(sums(home).last == 740)
        }
    }

    @Test func `a night that ends later leaves no hours of its former end`() throws {
        let home = FakeHome(["sleep": ("sensor.slept", "min")])
        try ImportTests.run(home) { simulation, importer, store, _, _ in
            func night(_ minutes: Int) -> Sample {
                let start = Self.midnight - .hours(1)
                let end = start + .minutes(minutes)
                return Sample(
                    metric: .sleep, start: start, end: end,
                    reading: .sleep(Sleep(stages: [Sleep.Stage(.deep, from: start, to: end)])))
            }
            try await store.add([night(440)], at: simulation.date)
            try await ImportTests.settle(simulation, importer)
            #expect(home.rows("sensor.slept", from: Self.midnight)[6]?.mean == 440)
            try await store.add([night(500)], at: simulation.date)
            try await ImportTests.settle(simulation, importer)
            let rows = home.rows("sensor.slept", from: Self.midnight)
            #expect(rows[6]?.mean == 0)
            #expect(rows[6]?.highest == 0)
            #expect(rows[7]?.mean == 500)
            // Hours without a row get none.
            #expect(rows.keys.min() == 6)
        }
    }

    @Test func `an hour that Home Assistant has is seen to change, also if only its extremes do`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        try ImportTests.run(home) { simulation, importer, store, _, _ in
            let (first, last) = (ImportTests.noon - .hours(4), ImportTests.noon - .hours(3))
            try await store.add([beat(60, first), beat(70, last)], at: ImportTests.noon)
            try await ImportTests.settle(simulation, importer)
            #expect(home.state.withLock { $0.imports.count } == 1)
            // The last hour stays as it is. While the recorder forgets the other one, nothing is given up.
            home.state.withLock { $0.storesNothing = true }
            try await store.add(
                [beat(99, first + .minutes(1), kind: .maximum), beat(70, last + .minutes(1))], at: simulation.date)
            try await ImportTests.settle(simulation, importer)
            #expect(try await store.pending.count == 1)
            home.state.withLock { $0.storesNothing = false }
            try await ImportTests.settle(simulation, importer, after: .minutes(1))
            #expect(home.rows("sensor.pulse", from: ImportTests.noon)[-4]?.highest == 99)
            #expect(home.rows("sensor.pulse", from: ImportTests.noon)[-4]?.mean == 60)
            #expect(try await store.pending.isEmpty)
            // The rows that exist already are not sent again.
            let sent = home.state.withLock { $0.imports.count }
            try await store.add([beat(70, last + .minutes(2))], at: simulation.date)
            try await ImportTests.settle(simulation, importer)
            #expect(home.state.withLock { $0.imports.count } == sent)
        }
    }

    @Test func `samples of another device count for that one alone`() throws {
        let home = ImportTests.walking()
        let other = try #require(DeviceID("other"))
        home.state.withLock {
            $0.entities["vitals2mqtt_home_other_steps"] = "sensor.other"
            $0.units["sensor.other"] = "steps"
        }
        try ImportTests.run(home) { simulation, importer, store, _, _ in
            try await store.add([steps(10, Self.midnight + .hours(8))], at: simulation.date)
            try await store.add([steps(500, Self.midnight + .hours(8))], of: other, at: simulation.date)
            try await ImportTests.settle(simulation, importer)
            #expect(home.rows(Self.count, from: Self.midnight)[8]?.sum == 10)
            #expect(home.rows("sensor.other", from: Self.midnight)[8]?.sum == 500)
        }
    }
}
