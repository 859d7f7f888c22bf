import Concurrency
import GatewayKit
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Gateway

/// Devices that end long after a reload, or never.
@Suite struct OverdueDeviceTests {
    private func everyOrder(_ body: @escaping @Sendable (Scenario, Promise<Void>) async throws -> Void) throws {
        try Scenario.everyOrder(0..<5) { home in
            let end = Promise<Void>()
            try await home.run([try home.device("band"), try home.stuck("ring", until: end)]) {
                try await home.settled("band")
                try await body(home, end)
                end.fulfil(())
            }
        }
    }

    @Test func `no later reload waits for a device that never ends`() throws {
        try everyOrder { home, _ in
            let core = try #require(home.core)
            home.write(.success([try home.device("band")]))
            let began = home.simulation.uptime
            let change = try await core.applyReload()
            #expect(change == ["added": [], "changed": [], "removed": ["ring"]])
            let took = home.simulation.uptime - began
            #expect(took >= DeviceSupervisor.timeout && took < DeviceSupervisor.timeout + .seconds(10))
            let (start, second) = (home.position, home.simulation.uptime)
            home.write(.success([try home.device("band"), try home.device("cuff")]))
            let next = try await core.applyReload()
            #expect(next == ["added": ["cuff"], "changed": [], "removed": []])
            #expect(home.simulation.uptime - second < .seconds(10))
            try await home.settled("cuff", from: start)
        }
    }

    @Test func `a device that was changed begins with its newest settings when it has ended`() throws {
        try everyOrder { home, end in
            let core = try #require(home.core)
            let ring = try #require(DeviceID("ring"))
            for name in ["second", "third"] {
                home.write(.success([try home.device("band"), try home.device("ring", name: name)]))
                let change = try await core.applyReload()
                #expect(change == ["added": [], "changed": ["ring"], "removed": []])
            }
            #expect(home.connections(of: "ring") == 0)
            #expect(core.passing.probes.map(\.part) == [.device(ring)])
            let start = home.position
            end.fulfil(())
            try await home.settled("ring", from: start)
            try await home.message("ring/info", from: start) { $0["name"]?.asString == "third" }
            #expect(core.passing.probes.isEmpty)
        }
    }

    @Test func `a removed device stays known until it has ended, and its topics are emptied then`() throws {
        try everyOrder { home, end in
            let core = try #require(home.core)
            let ring = try #require(DeviceID("ring"))
            home.write(.success([try home.device("band")]))
            try await core.applyReload()
            try await home.sleep(for: .minutes(5))
            #expect(await core.supervisor.ids.contains(ring))
            #expect(!home.retained(about: "ring").isEmpty)
            end.fulfil(())
            try await home.sleep(for: .minutes(5))
            #expect(await !core.supervisor.ids.contains(ring))
            #expect(home.retained(about: "ring") == [])
        }
    }

    @Test func `a removed device that comes back before it has ended is served when it has`() throws {
        try everyOrder { home, end in
            let core = try #require(home.core)
            home.write(.success([try home.device("band")]))
            try await core.applyReload()
            home.write(.success([try home.device("band"), try home.device("ring")]))
            let change = try await core.applyReload()
            #expect(change["added"] == ["ring"])
            #expect(home.connections(of: "ring") == 0)
            let start = home.position
            end.fulfil(())
            try await home.settled("ring", from: start)
            #expect(home.connections(of: "ring") > 0)
        }
    }

    @Test func `a removed device that comes back before it has ended gives no answer from before`() throws {
        try everyOrder { home, end in
            let core = try #require(home.core)
            let command = OutgoingMessage(
                topic: "\(Scenario.base)/ring/command/history",
                payload: Array(#"{"id":"h1","metric":"heart_rate"}"#.utf8))
            home.broker.publish(command)
            let first = try await home.message("ring/response")
            #expect(first["status"] == "done")
            let band = try home.device("band")
            let ring = try home.device("ring")
            for setups in [[band], [band, ring]] {
                home.write(.success(setups))
                try await core.applyReload()
            }
            let start = home.position
            end.fulfil(())
            try await home.settled("ring", from: start)
            home.broker.publish(command)
            let second = try await home.message("ring/response", from: start)
            #expect(second["status"] == "done")
            #expect(second["at"] != first["at"], "It is the former device's answer.")
        }
    }
}
