import Contract
import GatewayTesting
import HomeAssistant
import HomeAssistantStatistics
import Logging
import StoreAPI
import Synchronization
import Testing
import Vitals

/// A Home Assistant that refuses, has something removed, or is away.
@Suite struct RefusalTests {
    @Test func `a wrong token is told once, and never tried again`() throws {
        let home = ImportTests.walking()
        try ImportTests.world(home, token: "wrong") { world, importer, store, states, log in
            await store.add([steps(10, ImportTests.noon - .days(1))], at: ImportTests.noon)
            try await world.gatewayClock.sleep(for: .seconds(21))
            await importer.run()
            #expect(home.state.withLock { $0.logins } == 1)
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.activity == .refused)
            #expect(states.elements.last?.problem?.contains("does not take the token") == true)
            #expect(await store.due.count == 1)
        }
    }

    @Test func `an old release is told once, and tried again in an hour`() throws {
        let home = ImportTests.walking()
        home.state.withLock { $0.version = "2024.11.3" }
        try ImportTests.world(home) { world, importer, store, states, log in
            await store.add([steps(10, ImportTests.noon - .days(1))], at: ImportTests.noon)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await importer.run() }
                try? await world.gatewayClock.sleep(for: .hours(2) + .minutes(30))
                group.cancelAll()
            }
            #expect(home.state.withLock { $0.logins } == 3)
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.problem?.contains("2024.11.3 is too old") == true)
        }
    }

    @Test func `a removed entity is told once, delays no other, and its hours wait for it`() throws {
        let home = FakeHome(["heart_rate": ("sensor.pulse", "bpm")])
        try ImportTests.world(home) { world, importer, store, states, log in
            await store.add(
                [steps(10, ImportTests.noon - .days(1)), beat(60, ImportTests.noon - .days(1))], at: ImportTests.noon)
            for _ in 0..<3 {
                try await ImportTests.settle(world, importer)
                try await world.gatewayClock.sleep(for: .minutes(6))
            }
            #expect(log.entries.filter { $0.level >= .warning }.count == 1)
            #expect(states.elements.last?.problem == "There is no entity vitals2mqtt_home_band_steps")
            #expect(home.rows("sensor.pulse", from: ImportTests.noon).count == 1)
            #expect(await store.due.map(\.metric) == [.steps])
            // It is there again, under another name.
            home.state.withLock {
                for (key, id, unit) in [
                    ("steps", "feet", "steps"), ("distance", "way", "m"), ("energy", "heat", "kcal"),
                ] {
                    $0.entities["vitals2mqtt_home_band_\(key)"] = "sensor.\(id)"
                    $0.units["sensor.\(id)"] = unit
                }
            }
            try await importer.importDue()
            #expect(home.rows("sensor.feet", from: ImportTests.noon)[-24]?.sum == 10)
            #expect(home.rows("sensor.way", from: ImportTests.noon).isEmpty)
            #expect(states.elements.last?.problem == nil)
        }
    }

    @Test func `while Home Assistant is away nothing is warned of, and attempts are rare`() throws {
        try Simulation.run(seed: 1, start: ImportTests.noon, deadline: .days(1)) { world in
            let (store, log, attempts) = (MemoryStore(), LogRecorder(), Recorder<Int>())
            await store.add([steps(10, ImportTests.noon - .days(1))], at: ImportTests.noon)
            let gateway = try #require(DeviceID("home"))
            let discovery = Discovery(
                options: DiscoveryOptions(), topics: ContractTopics(gateway: gateway),
                origin: DiscoveryOrigin(version: "", supportURL: ""))
            let importer = StatisticsImporter(
                settings: StatisticsSettings(
                    token: "right", discovery: discovery,
                    calendar: try #require(LocalCalendar(identifier: "Europe/Berlin")), retention: nil,
                    clock: world.gatewayClock, logger: log.logger),
                store: store, generator: SplitMix64(seed: 1),
                connect: { _ in
                    attempts.append(1)
                    throw HomeAssistantError.away("nobody")
                }, report: { _ in })
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await importer.run() }
                try? await world.gatewayClock.sleep(for: .hours(6))
                group.cancelAll()
            }
            // Every five minutes at most twice, after some first ones.
            #expect((70...160).contains(attempts.elements.count), "\(attempts.elements.count)")
            #expect(log.entries.filter { $0.level >= .warning }.isEmpty)
            #expect(log.entries.filter { $0.level == .info }.count == 1)
        }
    }
}
