import Concurrency
import Delivery
import GatewayKit
import GatewayTesting
import JSON
import MQTT
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Gateway

/// The liveness of the whole gateway's parts.
@Suite struct LivenessTests {
    private static let seeds: Range<UInt64> = 0..<5

    private func everyOrder(_ body: @escaping @Sendable (Scenario, GatewayCore) async throws -> Void) throws {
        try Scenario.everyOrder(Self.seeds) { home in
            try await home.run([try home.device("band")]) {
                try await home.settled("band")
                try await body(home, try #require(home.core))
            }
        }
    }

    /// The parts that do not answer within their limits of simulated time.
    private func silent(_ core: GatewayCore, _ home: Scenario) async throws -> [LivenessPart] {
        var silent: [LivenessPart] = []
        for probe in core.probes(connection: {}, writer: {}, reader: {}) + core.passing.probes {
            let answer: Void? = await home.simulation.gatewayClock.withTimeout(probe.limit) { await probe.ask() }
            if answer == nil { silent.append(probe.part) }
        }
        return silent
    }

    @Test func `every part of a healthy gateway answers, with and without a broker`() throws {
        try everyOrder { home, core in
            let atFirst = try await silent(core, home)
            #expect(atFirst == [])
            home.broker.cut()
            let withoutBroker = try await silent(core, home)
            #expect(withoutBroker == [])
            #expect(core.livenessReport.hasBegun())
        }
    }

    @Test func `a configuration that cannot be read to its end is late, and the other parts are not`() throws {
        try everyOrder { home, core in
            let end = Promise<Void>()
            home.holdReload(until: end)
            home.write(.success([try home.device("band")]))
            try await withThrowingTaskGroup { group in
                group.addTask { try await core.applyReload() }
                try await home.sleep(for: .seconds(1))
                let meanwhile = try await silent(core, home)
                #expect(meanwhile == [.configuration])
                end.fulfil(())
                try await group.waitForAll()
            }
            let later = try await silent(core, home)
            #expect(later == [])
        }
    }

    @Test func `a device that never ends is late, and no part of the gateway is, nor does its cleaning wait`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let end = Promise<Void>()
            try await home.run([try home.device("band"), try home.stuck("stuck", until: end)]) {
                try await home.settled("band")
                let core = try #require(home.core)
                let gone = try #require(DeviceID("gone"))
                home.write(.success([try home.device("band")]))
                try await withThrowingTaskGroup { group in
                    group.addTask { try await core.applyReload() }
                    try await home.sleep(for: .seconds(1))
                    // A device that was removed before waits for the reload, and nothing else does.
                    core.removedDevices.withLock { $0[gone] = 9 }
                    try await core.forgetDeparted()
                    #expect(core.removedDevices.withLock { $0[gone] } != nil)
                    let meanwhile = try await silent(core, home)
                    #expect(meanwhile == [.device(try #require(DeviceID("stuck")))])
                    end.fulfil(())
                    try await group.waitForAll()
                }
                let later = try await silent(core, home)
                #expect(later == [])
                try await core.forgetDeparted()
                #expect(core.removedDevices.withLock { $0[gone] } == nil)
            }
        }
    }

    @Test func `a broker loop whose attempt never ends makes the delivery late`() throws {
        try everyOrder { home, core in
            let end = Promise<Void>()
            home.holdConnections(until: end)
            home.broker.cut()
            try await home.sleep(for: BrokerLoop.stepLimit + .seconds(2))
            let meanwhile = try await silent(core, home)
            #expect(meanwhile == [.delivery])
            end.fulfil(())
            try await home.sleep(for: .seconds(5))
            let later = try await silent(core, home)
            #expect(later == [])
        }
    }

    @Test(arguments: [
        (FaultyStore.Call.begin, LivenessPart.commands), (.quarantine, .refusedFacts), (.clean, .upkeep),
    ])
    func `a store that does not end a call makes the part late that waits for it`(
        call: FaultyStore.Call, part: LivenessPart
    ) throws {
        try everyOrder { home, core in
            let end = Promise<Void>()
            home.hold(call, until: end)
            switch part {
            case .commands: _ = home.send("band/command/fetch")
            case .refusedFacts: home.broker.cutAt { $0.topic == "\(Scenario.base)/band/measurement/heart_rate" }
            default: break
            }
            // By then the fact was found at which the broker cuts, and the store is to be cleaned.
            try await home.sleep(for: .minutes(10))
            let meanwhile = try await silent(core, home)
            #expect(meanwhile == [part])
            home.broker.cutAt(nil)
            end.fulfil(())
            try await home.sleep(for: .minutes(1))
            let later = try await silent(core, home)
            #expect(later == [])
        }
    }

    @Test func `a broker that is offline for an hour makes no part late`() throws {
        try everyOrder { home, core in
            home.broker.refuseConnections(BrokerError(.unreachable, "It is offline."))
            home.broker.cut()
            for _ in 0..<20 {
                try await home.sleep(for: .minutes(3) + .milliseconds(137))
                let late = try await silent(core, home)
                #expect(late == [])
            }
            home.broker.refuseConnections(nil)
        }
    }

    @Test func `gateway-status is offline as long as a part of the gateway itself is late, also over connections`()
        throws
    {
        try everyOrder { home, core in
            func status() -> String? {
                home.broker.retained("\(Scenario.base)/gateway/status").first.map {
                    String(decoding: $0.payload, as: UTF8.self)
                }
            }
            func soon() async throws -> String? {
                try await home.sleep(for: .seconds(10))
                return status()
            }
            let well = try await soon()
            #expect(well == "online")
            core.parts(late: [.plugin("radio"), .device(try #require(DeviceID("band")))])
            let withPlugin = try await soon()
            #expect(withPlugin == "online")
            core.parts(late: [.timers, .plugin("radio")])
            let late = try await soon()
            #expect(late == "offline")
            home.broker.cut()
            let again = try await soon()
            #expect(again == "offline")
            #expect(core.status.snapshot.isConnected)
            core.parts(late: [.plugin("radio")])
            let good = try await soon()
            #expect(good == "online")
        }
    }

    @Test func `a driver that ignores its cancellation is named by its device until it ends`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let (drop, end) = (Promise<Void>(), Promise<Void>())
            try await home.run([try home.device("band"), try home.lingering("ring", from: drop, until: end)]) {
                for name in ["band", "ring"] { try await home.settled(name) }
                let core = try #require(home.core)
                #expect(core.passing.probes.isEmpty)
                let start = home.position
                drop.fulfil(())
                try await home.sleep(for: .seconds(1))
                let meanwhile = try await silent(core, home)
                #expect(meanwhile == [.device(try #require(DeviceID("ring")))])
                end.fulfil(())
                try await home.message("ring/link", from: start) { $0["state"]?.asString == "connected" }
                let later = try await silent(core, home)
                #expect(later == [])
            }
        }
    }

    @Test func `what the devices of a plugin share is asked while it is open`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let radio = SharedRadio()
            try await home.run([try home.device("band", sharing: radio.setup())]) {
                try await home.settled("band")
                let core = try #require(home.core)
                let healthy = try await silent(core, home)
                #expect(healthy == [])
                let end = Promise<Void>()
                radio.hang(until: end)
                let meanwhile = try await silent(core, home)
                #expect(meanwhile == [.plugin("radio")])
                end.fulfil(())
                let later = try await silent(core, home)
                #expect(later == [])
                home.write(.success([try home.device("band")]))
                try await core.applyReload()
                #expect(core.passing.probes.isEmpty)
            }
        }
    }

    @Test func `a device that never ends delays no graceful disconnect of the gateway or of other devices`() throws {
        try Scenario.everyOrder(Self.seeds) { home in
            let end = Promise<Void>()
            try await home.run([try home.device("band"), try home.stuck("stuck", until: end)]) {
                try await home.settled("band")
                let (start, stop) = (home.position, home.simulation.uptime)
                try #require(home.core).stop()
                try await home.observation.wait { messages in
                    messages.dropFirst(start).contains {
                        $0.message.topic.hasSuffix("gateway/status") && $0.message.payload == Array("offline".utf8)
                    }
                }
                #expect(home.simulation.uptime - stop <= .seconds(4))
                try await home.message("band/link", from: start) { $0["state"]?.asString == "disabled" }
                end.fulfil(())
            }
        }
    }

    @Test func `of thousands of late parts gateway-state names some, the gateway's own first`() throws {
        try everyOrder { home, core in
            try await home.message("gateway/state")
            let start = home.position
            core.parts(late: (0..<5_000).map { .plugin("\($0)") } + [.timers])
            let state = try await home.message("gateway/state", from: start)
            #expect(state["late"]?.asArray?.count == GatewayCore.maximumLate)
            #expect(state["late"]?.asArray?.first == "timers")
            let parts = (0..<12).map { LivenessPart.plugin("\($0)") }
            #expect(core.livenessReport.status(parts).hasSuffix("plugin.8, plugin.9 and 2 more."))
        }
    }

    @Test func `a broker that acknowledges nothing for half a minute makes no part late`() throws {
        try everyOrder { home, core in
            home.broker.hold()
            try await home.sleep(for: .seconds(30))
            let held = try await silent(core, home)
            #expect(held == [])
            home.broker.release()
        }
    }

    @Test func `parts that are late are on gateway/state at once, until they answer`() throws {
        try everyOrder { home, core in
            try await home.message("gateway/state")
            let start = home.position
            core.parts(late: [.storeWriter, .timers])
            let state = try await home.message("gateway/state", from: start)
            #expect(state["late"] == ["store_writer", "timers"])
            #expect(core.livenessReport.status([.timers]) == "The broker is connected. Late: timers.")
            let later = home.position
            core.parts(late: [])
            let good = try await home.message("gateway/state", from: later) { $0["late"] == [] }
            #expect(good["broker"] == "connected")
        }
    }
}
