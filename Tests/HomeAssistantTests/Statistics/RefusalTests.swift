import Contract
import GatewayKit
import GatewayTesting
import HomeAssistant
import HomeAssistantStatistics
import JSON
import Logging
import Synchronization
import TestSupport
import Testing
import Vitals

/// A Home Assistant that refuses, has something removed, or is offline.
@Suite struct RefusalTests {
    @Test func `a wrong token is reported at once and once, stands in no log, and is never tried again`() throws {
        let home = ImportTests.walking()
        home.state.withLock { $0.refusal = String(repeating: "no ", count: 100_000) }
        try ImportTests.run(home, token: "wrong-7f3a") { simulation, importer, _, states, log in
            // Nothing is pending yet, but a wrong setting must be reported at once.
            await importer.run()
            #expect(home.state.withLock { $0.logins } == 1)
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.activity == .refused)
            #expect(states.elements.last?.problem?.contains("does not take the token") == true)
            #expect(states.elements.last.map { $0.problem?.count ?? 0 < 400 } == true)
            #expect(!log.entries.contains { "\($0)".contains("7f3a") || "\($0)".count > 1_000 })
            #expect(!states.elements.contains { "\($0)".contains("7f3a") })
        }
    }

    @Test func `an old release is reported once, and tried again in an hour`() throws {
        let home = ImportTests.walking()
        home.state.withLock { $0.version = "2024.11.3" + String(repeating: ".1", count: 100_000) }
        try ImportTests.run(home) { simulation, importer, store, states, log in
            try await store.add([steps(10, ImportTests.noon - .days(1))], at: ImportTests.noon)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await importer.run() }
                try? await simulation.gatewayClock.sleep(for: .hours(2) + .minutes(30))
                group.cancelAll()
            }
            #expect(home.state.withLock { $0.logins } == 3)
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.problem?.contains("2024.11.3.1") == true)
            #expect(states.elements.last?.problem?.contains("is too old") == true)
            #expect(states.elements.last.map { $0.problem?.count ?? 0 < 400 } == true)
        }
    }

    @Test func `a removed entity is reported once, delays no other, and its hours wait for it`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        try ImportTests.run(home) { simulation, importer, store, states, log in
            try await store.add(
                [steps(10, ImportTests.noon - .days(1)), beat(60, ImportTests.noon - .days(1))], at: ImportTests.noon)
            for _ in 0..<3 {
                try await ImportTests.settle(simulation, importer)
                try await simulation.gatewayClock.sleep(for: .minutes(6))
            }
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.problem == "There is no entity vitals2mqtt_home_band_steps")
            #expect(home.rows("sensor.pulse", from: ImportTests.noon).count == 1)
            #expect(try await store.pending.map(\.metric) == [.steps])
            // It is back, under another name.
            home.state.withLock {
                for (key, id, unit) in [
                    ("steps", "feet", "steps"), ("distance", "way", "m"), ("energy", "heat", "kcal"),
                ] {
                    $0.entities["vitals2mqtt_home_band_\(key)"] = "sensor.\(id)"
                    $0.units["sensor.\(id)"] = unit
                }
            }
            try await importer.importPending()
            #expect(home.rows("sensor.feet", from: ImportTests.noon)[-24]?.sum == 10)
            #expect(home.rows("sensor.way", from: ImportTests.noon).isEmpty)
            #expect(states.elements.last?.problem == nil)
        }
    }

    @Test func `while Home Assistant is offline nothing is warned of, and attempts are rare`() throws {
        try Simulation.run(seed: 1, start: ImportTests.noon, deadline: .days(1)) { simulation in
            let (store, log, attempts) = (try await CountingStore(simulation), LogRecorder(), Recorder<Int>())
            try await store.add([steps(10, ImportTests.noon - .days(1))], at: ImportTests.noon)
            let gateway = try #require(DeviceID("home"))
            let discovery = Discovery(
                options: DiscoveryOptions(), topics: ContractTopics(gateway: gateway),
                origin: DiscoveryOrigin(version: "", supportURL: ""))
            let importer = StatisticsImporter(
                settings: StatisticsSettings(
                    token: "right", discovery: discovery,
                    calendar: try #require(LocalCalendar(identifier: "Europe/Berlin")), retention: nil,
                    clock: simulation.gatewayClock, logger: log.logger),
                store: store, generator: SplitMix64(seed: 1),
                connect: { _ in
                    attempts.append(1)
                    throw HomeAssistantError.offline("nobody")
                }, report: { _ in })
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await importer.run() }
                try? await simulation.gatewayClock.sleep(for: .hours(6))
                group.cancelAll()
            }
            // Every five minutes at most twice, after some first ones.
            #expect((70...160).contains(attempts.elements.count), "\(attempts.elements.count)")
            #expect(log.entries.filter { $0.level >= .warning }.isEmpty)
            #expect(log.entries.filter { $0.level == .info }.count == 1)
        }
    }

    @Test func `of steps, distance and energy each waits for itself, until its entity is as it must be`() throws {
        let home = ImportTests.walking()
        home.add("distance", "sensor.way", "furlong")
        try ImportTests.run(home) { simulation, importer, store, states, log in
            let walk = Increment(count: 10, distance: 7, energy: 1)
            let start = ImportTests.noon - .days(1)
            try await store.add(
                [Sample(metric: .steps, start: start, end: start + .minutes(15), reading: .count(walk))],
                at: ImportTests.noon)
            // The energy's entity exists, and has had no state.
            home.state.withLock { $0.entities["vitals2mqtt_home_band_energy"] = "sensor.heat" }
            try await ImportTests.settle(simulation, importer)
            #expect(home.rows(ImportTests.count, from: ImportTests.noon)[-24]?.sum == 10)
            #expect(try await store.pending.map(\.sensor).sorted() == ["distance", "energy", "steps"])
            // While Home Assistant starts, each entity has no state for a moment: the importer warns only if it lasts.
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.problem == "sensor.way has the unit furlong")
            for _ in 0..<2 {
                try await ImportTests.settle(simulation, importer, after: .minutes(1))
            }
            #expect(log.entries.filter { $0.level >= .warning }.count == 2)
            #expect(
                states.elements.last?.problem
                    == "sensor.heat has no statistics: it has had no state yet; sensor.way has the unit furlong")
            home.add("distance", "sensor.way", "ft")
            home.state.withLock { $0.disabled = ["sensor.heat"] }
            try await ImportTests.settle(simulation, importer, after: .minutes(6))
            #expect(abs((home.rows("sensor.way", from: ImportTests.noon)[-24]?.sum ?? 0) - 7 / 0.3048) < 1e-6)
            // Nothing is wanted of an entity that is switched off.
            #expect(try await !store.pending.contains { $0.sensor == "energy" })
            #expect(states.elements.last?.problem == nil)
            #expect(states.elements.last?.due == 0)
        }
    }

    @Test func `a series that is refused delays no other`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm"), "temperature": ("sensor.warmth", "°C")])
        home.state.withLock { $0.refused = ["sensor.pulse"] }
        try ImportTests.run(home) { simulation, importer, store, states, log in
            let late = ImportTests.noon - .hours(3)
            try await store.add(
                [beat(60, late), Sample(metric: .temperature, start: late, reading: .value(37))], at: ImportTests.noon)
            for _ in 0..<3 {
                try await ImportTests.settle(simulation, importer)
            }
            #expect(home.rows("sensor.warmth", from: ImportTests.noon)[-3]?.mean == 37)
            #expect(try await store.pending.map(\.sensor) == ["heart_rate"])
            #expect(states.elements.last?.problem?.contains("refused recorder/import_statistics: no") == true)
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            home.state.withLock { $0.refused = [] }
            try await ImportTests.settle(simulation, importer, after: .minutes(2))
            #expect(try await store.pending.isEmpty)
            #expect(states.elements.last?.problem == nil)
        }
    }

    @Test func `what has no sensor is never pending`() throws {
        try ImportTests.run(ImportTests.walking()) { simulation, importer, store, states, _ in
            let start = ImportTests.noon - .hours(5)
            let run = Sample(
                metric: .sport, start: start, end: start + .hours(1), reading: .sport(Sport(activity: "running")))
            try await store.add([run], at: ImportTests.noon)
            try await importer.importPending()
            #expect(try await store.pending.isEmpty)
            #expect(states.elements.allSatisfy { $0.due == 0 })
        }
    }

    @Test func `a rename in the middle loses no hour`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        home.state.withLock {
            $0.afterImport = { state in
                state.entities["vitals2mqtt_home_band_heart_rate"] = "sensor.heart"
                state.units["sensor.heart"] = "bpm"
                // Home Assistant moves the statistics that it has, and drops those that come under the old name.
                state.hours = [:]
            }
        }
        try ImportTests.run(home) { simulation, importer, store, _, log in
            try await store.add([beat(60, ImportTests.noon - .hours(3))], at: ImportTests.noon)
            try await ImportTests.settle(simulation, importer)
            #expect(try await store.pending.count == 1)
            try await ImportTests.settle(simulation, importer, after: .minutes(3))
            #expect(home.rows("sensor.heart", from: ImportTests.noon)[-3]?.mean == 60)
            #expect(try await store.pending.isEmpty)
            #expect(log.entries.filter { $0.level >= .warning }.isEmpty)
        }
    }

    @Test func `all statistics of entities are deleted with one command, and of none with no command`() async throws {
        final class Tape: MessageStream {
            let sent = Recorder<[UInt8]>()
            func send(_ message: [UInt8]) async throws { sent.append(message) }
            func receive() async throws -> [UInt8] {
                Array(#"{"id":1,"type":"result","success":true,"result":null}"#.utf8)
            }
        }
        let tape = Tape()
        let conversation = Conversation(tape, clock: .system)
        try await conversation.clear([])
        try await conversation.clear(["sensor.a", "sensor.b"])
        #expect(tape.sent.elements.count == 1)
        let command = try JSONValue(parsing: try #require(tape.sent.elements.first))
        #expect(command["type"]?.asString == "recorder/clear_statistics")
        #expect(command["statistic_ids"] == ["sensor.a", "sensor.b"])
    }

    @Test func `a peer that takes no message is offline after a minute`() throws {
        struct Deaf: MessageStream {
            let clock: GatewayClock
            func send(_ message: [UInt8]) async throws { try await clock.sleep(for: .days(365)) }
            func receive() async throws -> [UInt8] { Array(#"{"type":"auth_required"}"#.utf8) }
        }
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let conversation = Conversation(Deaf(clock: simulation.gatewayClock), clock: simulation.gatewayClock)
            await #expect(throws: HomeAssistantError.self) { _ = try await conversation.authenticate(token: "x") }
            #expect(simulation.uptime == .seconds(60))
        }
    }
}
