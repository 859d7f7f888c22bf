import Contract
import GatewayTesting
import HomeAssistant
import HomeAssistantStatistics
import JSON
import Synchronization
import TestSupport
import Testing
import Vitals

/// Whole imports into a Home Assistant of the tests, in simulated time. It is 12:00 of 18 November in Berlin.
@Suite struct ImportTests {
    static let noon = time("2026-11-18T11:00:00Z")
    static let midnight = time("2026-11-17T23:00:00Z")
    static let yesterday = time("2026-11-16T23:00:00Z")
    static let count = "sensor.walked"

    /// Runs a body with an importer, whose states are recorded.
    static func run(
        _ home: FakeHome, token: String = "right", retention: Duration? = nil, start: Timestamp = noon,
        seed: UInt64 = 1, deadline: Duration = .days(3),
        _ body:
            @escaping @Sendable (
                Simulation, StatisticsImporter, CountingStore, Recorder<StatisticsState>, LogRecorder
            ) async throws -> Void
    ) throws {
        try Simulation.run(seed: seed, start: start, deadline: deadline) { simulation in
            let store = try await CountingStore(simulation)
            let states = Recorder<StatisticsState>()
            let log = LogRecorder()
            let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
            let gateway = try #require(DeviceID("home"))
            let discovery = Discovery(
                options: DiscoveryOptions(), topics: ContractTopics(gateway: gateway),
                origin: DiscoveryOrigin(version: "", supportURL: ""))
            let importer = StatisticsImporter(
                settings: StatisticsSettings(
                    token: token, discovery: discovery, calendar: calendar, retention: retention,
                    clock: simulation.gatewayClock, logger: log.logger),
                store: store, generator: SplitMix64(seed: 1), connect: { try await $0(home.connection()) },
                report: { states.append($0) })
            try await body(simulation, importer, store, states, log)
        }
    }

    /// Imports after the time in which more samples could come, or another one.
    static func settle(
        _ simulation: Simulation, _ importer: StatisticsImporter, after time: Duration = .seconds(21)
    ) async throws {
        try await simulation.gatewayClock.sleep(for: time)
        try await importer.importPending()
    }

    static func walking() -> FakeHome { FakeHome(["steps": (count, "steps")]) }

    @Test func `late heart rates become hours, and a second check changes nothing`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        try Self.run(home) { simulation, importer, store, states, _ in
            // 09:00 and 09:30 local time; 11:50 is in an hour that is not old enough.
            try await store.add(
                [60, 70].enumerated().map { beat($1, Self.noon - .hours(3) + .minutes(30 * $0)) }
                    + [beat(99, Self.noon - .minutes(10))], at: Self.noon)
            try await Self.settle(simulation, importer)
            #expect(home.rows("sensor.pulse", from: Self.noon).mapValues(\.mean) == [-3: 65])
            let imports = home.state.withLock { $0.imports }
            #expect(imports[0]["metadata"]?["mean_type"] == 1)
            #expect(imports[0]["metadata"]?["has_mean"] == nil)
            #expect(imports[0]["stats"]?[0]?["min"] == 60)
            #expect(imports[0]["stats"]?[0]?["max"] == 70)
            try await importer.importPending()
            #expect(home.state.withLock { $0.imports.count } == 1)
            // 75 minutes after its end, the hour from 11 to 12 follows.
            try await Self.settle(simulation, importer, after: .minutes(76))
            #expect(home.rows("sensor.pulse", from: Self.noon).mapValues(\.mean) == [-3: 65, -1: 99])
            #expect(try await store.pending.isEmpty)
            #expect(states.elements.last?.due == 0)
        }
    }

    @Test func `an older release gets the older description`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        home.state.withLock { $0.version = "2025.4.4" }
        try Self.run(home) { simulation, importer, store, _, _ in
            try await store.add([beat(60, Self.noon - .hours(3))], at: Self.noon)
            try await Self.settle(simulation, importer)
            let metadata = home.state.withLock { $0.imports[0]["metadata"] }
            #expect(metadata?["has_mean"] == true)
            #expect(metadata?["mean_type"] == nil)
            #expect(metadata?["unit_class"] == nil)
        }
    }

    @Test func `late steps of yesterday raise all later sums, also Home Assistant's own`() throws {
        let home = Self.walking()
        // Home Assistant saw 100 steps yesterday and 40 today.
        home.compile(Self.count, 100, since: Self.yesterday, at: Self.midnight - .minutes(5))
        home.compile(Self.count, 40, since: Self.midnight, at: Self.noon - .minutes(65))
        home.compile(Self.count, 40, since: Self.midnight, at: Self.noon - .minutes(5))
        try Self.run(home) { simulation, importer, store, _, _ in
            let late = [
                steps(100, Self.yesterday + .hours(8)), steps(500, Self.yesterday + .hours(20)),
                steps(40, Self.midnight + .hours(9)),
            ]
            try await store.add(late, at: Self.noon)
            try await Self.settle(simulation, importer)
            // Hours from yesterday's midnight on: 8 to 24 of yesterday, then today's up to 10 of 12 (11:00 is too new).
            let rows = home.rows(Self.count, from: Self.yesterday)
            #expect(rows[8]?.sum == 100)
            #expect(rows[20]?.sum == 600)
            #expect(rows[20]?.state == 600)
            #expect(rows[23]?.sum == 600)
            #expect(rows[24]?.state == 0)
            #expect(rows[33]?.sum == 640)
            // 11:00 to 12:00 local time is Home Assistant's own row, shifted from 40 − 100 = … to what follows 640.
            #expect(rows[35]?.sum == 640)
            // Home Assistant continues from there.
            home.compile(Self.count, 55, since: Self.midnight, at: Self.noon)
            #expect(home.state.withLock { $0.fiveMinutes[Self.count]?[Self.noon]?.sum } == 655)
            let shifts = home.state.withLock { $0.shifts }
            try await store.add([steps(500, Self.yesterday + .hours(20))], at: simulation.date)
            try await Self.settle(simulation, importer)
            #expect(home.rows(Self.count, from: Self.yesterday) == rows)
            #expect(home.state.withLock { $0.shifts } == shifts)
        }
    }

    @Test func `a correction lowers the sums after it`() throws {
        let home = Self.walking()
        try Self.run(home) { simulation, importer, store, _, _ in
            try await store.add(
                [steps(300, Self.yesterday + .hours(8)), steps(50, Self.yesterday + .hours(9))], at: Self.noon)
            try await Self.settle(simulation, importer)
            try await store.add([steps(200, Self.yesterday + .hours(8))], at: simulation.date)
            try await Self.settle(simulation, importer)
            let rows = home.rows(Self.count, from: Self.yesterday)
            #expect(rows[8]?.sum == 200)
            #expect(rows[9]?.sum == 250)
            // Nothing is known of the hours after it.
            #expect(rows.keys.max() == 9)
        }
    }

    private static func distance(_ metres: Int, _ start: Timestamp, of source: String, _ place: Int) -> Sample {
        Sample(
            metric: .distance, start: start, end: start + .minutes(15), qualifiers: [.activity: "walking_running"],
            origin: SampleOrigin(place: place, name: source), reading: .count(Increment(count: metres)))
    }

    /// A watch and a phone count the same way. Home Assistant keeps it in kilometres.
    @Test func `a distance in place of another source's lowers the sums in their unit, and is no new start`() throws {
        let home = FakeHome(["distance_today": ("sensor.ways", "km")])
        home.compile("sensor.ways", 1.5, since: Self.midnight, at: Self.noon - .minutes(5))
        try Self.run(home) { simulation, importer, store, _, _ in
            func near(_ number: Double?, _ wanted: Double) -> Bool { abs((number ?? -1) - wanted) < 1e-9 }
            let morning = Self.midnight + .hours(8)
            try await store.add(
                [
                    Self.distance(700, Self.yesterday + .hours(20), of: "Phone", 2),
                    Self.distance(1_500, morning, of: "Phone", 2),
                ], at: Self.noon)
            try await Self.settle(simulation, importer)
            var rows = home.rows("sensor.ways", from: Self.yesterday)
            #expect(near(rows[20]?.sum, 0.7) && near(rows[32]?.state, 1.5) && near(rows[32]?.sum, 2.2))
            // Home Assistant's own row follows.
            #expect(near(rows[35]?.state, 1.5) && near(rows[35]?.sum, 2.2))
            // The same way by the watch, five minutes later: Home Assistant sees the day fall, and does not begin again.
            try await store.add([Self.distance(1_400, morning + .minutes(5), of: "Watch", 0)], at: simulation.date)
            home.compile("sensor.ways", 1.4, since: Self.midnight, at: Self.noon)
            try await Self.settle(simulation, importer)
            rows = home.rows("sensor.ways", from: Self.yesterday)
            #expect(near(rows[20]?.sum, 0.7) && near(rows[32]?.state, 1.4) && near(rows[32]?.sum, 2.1))
            let own = home.state.withLock { $0.fiveMinutes["sensor.ways"]?[Self.noon] }
            #expect(near(own?.state, 1.4) && near(own?.sum, 2.1) && own?.lastReset == Self.midnight)
        }
    }

    @Test func `a count that Home Assistant begins at zero after the import is joined to it`() throws {
        let home = Self.walking()
        try Self.run(home) { simulation, importer, store, _, _ in
            try await store.add([steps(300, Self.yesterday + .hours(8))], at: Self.noon)
            try await Self.settle(simulation, importer)
            // It stays pending until Home Assistant has a row that fits.
            #expect(try await store.pending.count == 1)
            home.compile(Self.count, 20, since: Self.midnight, at: Self.noon)
            #expect(home.state.withLock { $0.fiveMinutes[Self.count]?[Self.noon]?.sum } == 0)
            try await Self.settle(simulation, importer, after: .minutes(6))
            #expect(home.state.withLock { $0.fiveMinutes[Self.count]?[Self.noon]?.sum } == 320)
            // The hours between become old enough, too, and Home Assistant's rows go on.
            try await simulation.gatewayClock.sleep(for: .hours(3))
            home.compile(Self.count, 20, since: Self.midnight, at: Self.noon + .hours(1))
            try await importer.importPending()
            #expect(home.rows(Self.count, from: Self.noon)[-1]?.sum == 300)
            #expect(home.rows(Self.count, from: Self.noon)[0]?.sum == 300)
            #expect(try await store.pending.isEmpty)
            #expect(home.state.withLock { $0.fiveMinutes[Self.count]?[Self.noon]?.sum } == 320)
        }
    }

    @Test func `a device that was offline for two days continues where the import ended`() throws {
        let home = Self.walking()
        // The newest row is of the day before yesterday.
        let before = Self.yesterday - .hours(6)
        home.compile(Self.count, 70, since: Self.yesterday - .days(1), at: before + .minutes(55))
        try Self.run(home) { simulation, importer, store, _, _ in
            try await store.add([steps(70, before), steps(400, Self.yesterday + .hours(8))], at: Self.noon)
            try await Self.settle(simulation, importer)
            home.compile(Self.count, 30, since: Self.midnight, at: Self.noon)
            try await Self.settle(simulation, importer, after: .minutes(6))
            let rows = home.rows(Self.count, from: Self.yesterday)
            #expect(rows[-6]?.sum == 70)
            #expect(rows[8]?.sum == 470)
            #expect(home.state.withLock { $0.fiveMinutes[Self.count]?[Self.noon]?.sum } == 500)
        }
    }

    @Test func `an import that is cut off goes on where it was, and ends the same`() throws {
        let hours = 3_500
        let late = (0..<hours).map { steps(10, Self.noon - .hours(hours + 3) + .hours($0)) }
        let whole = Self.walking()
        let cut = Self.walking()
        cut.state.withLock { $0.importsBeforeEnd = 2 }
        for home in [whole, cut] {
            home.compile(Self.count, 5, since: Self.midnight, at: Self.noon - .hours(2))
            home.compile(Self.count, 5, since: Self.midnight, at: Self.noon - .minutes(5))
            try Self.run(home) { simulation, importer, store, _, _ in
                try await store.add(late, at: Self.noon)
                do { try await Self.settle(simulation, importer) } catch let error as HomeAssistantError {
                    guard case .offline = error else { throw error }
                    home.state.withLock { $0.importsBeforeEnd = nil }
                    #expect(try await store.pending[0].hours.count < hours)
                    try await importer.importPending()
                }
                #expect(try await store.pending.isEmpty)
            }
        }
        #expect(whole.rows(Self.count, from: Self.noon) == cut.rows(Self.count, from: Self.noon))
        #expect(whole.state.withLock { $0.fiveMinutes } == cut.state.withLock { $0.fiveMinutes })
        #expect(whole.rows(Self.count, from: Self.noon)[-4]?.sum == Double(hours * 10))
        // Four messages of at most a thousand hours.
        let sizes = whole.state.withLock { $0.imports.map { $0["stats"]?.asArray?.count ?? 0 } }
        #expect(sizes == [1_000, 1_000, 1_000, 501])
    }

    @Test func `a series that never is quiet is imported after ten minutes`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        try Self.run(home) { simulation, importer, store, _, _ in
            for minute in 0...10 {
                try await store.add([beat(60, Self.noon - .hours(3) + .seconds(minute))], at: simulation.date)
                try await importer.importPending()
                #expect(home.state.withLock { $0.imports.count } == (minute < 10 ? 0 : 1))
                try await simulation.gatewayClock.sleep(for: .minutes(1))
            }
        }
    }

    @Test func `an import whose effect does not show is not taken for done`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        home.state.withLock { $0.storesNothing = true }
        try Self.run(home) { simulation, importer, store, states, _ in
            try await store.add([beat(60, Self.noon - .hours(3))], at: Self.noon)
            try await Self.settle(simulation, importer)
            #expect(try await store.pending.count == 1)
            #expect(states.elements.last?.problem?.contains("did not store in time") == true)
            #expect(states.elements.last?.importedAt == nil)
            home.state.withLock { $0.storesNothing = false }
            try await Self.settle(simulation, importer, after: .minutes(1))
            #expect(states.elements.last?.problem == nil)
            #expect(try await store.pending.isEmpty)
        }
    }

    /// Home Assistant's own row of the hour may have the same mean, of other values.
    @Test func `an import of which only the mean shows is not taken for done`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        home.state.withLock { state in
            state.storesNothing = true
            state.hours["sensor.pulse"] = [Self.noon - .hours(3): FakeHome.Row(mean: 60, lowest: 60, highest: 60)]
        }
        try Self.run(home) { simulation, importer, store, states, _ in
            let beats = [beat(50, Self.noon - .hours(3)), beat(70, Self.noon - .hours(3) + .minutes(1))]
            try await store.add(beats, at: Self.noon)
            try await Self.settle(simulation, importer)
            #expect(try await store.pending.count == 1)
            #expect(states.elements.last?.problem?.contains("did not store in time") == true)
            home.state.withLock { $0.storesNothing = false }
            try await Self.settle(simulation, importer, after: .minutes(1))
            let row = home.rows("sensor.pulse", from: Self.noon)[-3]
            #expect(row == FakeHome.Row(mean: 60, lowest: 50, highest: 70))
            #expect(try await store.pending.isEmpty)
        }
    }

    @Test func `hours whose samples may be deleted stay as they are`() throws {
        let home = Self.walking()
        try Self.run(home, retention: .days(10)) { simulation, importer, store, states, log in
            try await store.add([steps(10, Self.noon - .days(30))], at: Self.noon)
            try await Self.settle(simulation, importer)
            #expect(home.state.withLock { $0.imports.isEmpty })
            #expect(try await store.pending.isEmpty)
            // Nothing was imported, and nothing says so.
            #expect(states.elements.allSatisfy { $0.importedAt == nil })
            #expect(!log.entries.contains { $0.message.contains("imported") })
        }
    }

    @Test func `statistics in another unit stay in it, whatever unit is shown`() throws {
        let home = FakeHome(["temperature": ("sensor.warmth", "°F")])
        home.state.withLock { $0.isShownOtherwise = ["sensor.warmth"] }
        try Self.run(home) { simulation, importer, store, _, _ in
            try await store.add(
                [Sample(metric: .temperature, start: Self.noon - .hours(3), reading: .value(37))], at: Self.noon)
            try await Self.settle(simulation, importer)
            let metadata = home.state.withLock { $0.imports[0]["metadata"] }
            #expect(metadata?["unit_of_measurement"] == "°F")
            #expect(metadata?["unit_class"] == "temperature")
            #expect(abs((home.rows("sensor.warmth", from: Self.noon)[-3]?.mean ?? 0) - 98.6) < 1e-9)
        }
    }
}
