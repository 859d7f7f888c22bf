import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentConnectionTests {
    @Test func `connects, sets the clock, reads the monitoring and the history, and goes live`() throws {
        let schedule = MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 30)
        try AgentRig.running(
            content: .init(
                history: [.heartRate: (1...30).map { Fixture.heartRate(60, at: -$0) }],
                monitors: [.bloodOxygen: MonitorConfiguration.fixture(of: .bloodOxygen, schedule: schedule)],
                pageLimit: 7), given: { $0.skew(by: .seconds(-90)) }
        ) { rig, _ in
            let sync = try await rig.waitForSync()
            #expect(sync.job == "connect")
            #expect(sync.samplesNew == 30)
            await rig.session?.send(.samples([Fixture.heartRate(75, at: 0)], receipts: []))
            try await rig.wait { $0.asLatest?.stored.sample.reading == .value(75) }
        } then: { rig in
            let order = rig.calls.map { call in
                switch call {
                case .setClock: "clock"
                case .monitorConfiguration: "monitoring"
                case .history: "history"
                case .acknowledgeHistory: "acknowledge"
                case .shutdown: "disconnect"
                default: "?"
                }
            }
            #expect(order.first == "clock")
            #expect(order.dropFirst().first == "monitoring")
            #expect(order.last == "disconnect")
            let value = try await rig.store.record(of: Fixture.device).twin?.desired?[.bloodOxygen]?.schedule
            #expect(value == schedule)
            #expect(rig.states.contains { $0.asLink?.clockSkew == -90 })
            #expect(rig.states.contains(.availability(isOnline: true)))
            guard case .link(let last) = rig.states.last(where: { $0.part == .link }) else { return }
            #expect(last.phase == .disabled)
        }
    }

    @Test func `an offline device does not spin, and is found when it comes`() throws {
        try AgentRig.running(
            0..<5, given: { $0.open(.refuse, .refuse, .refuse, .refuse, .refuse, .refuse) }
        ) { rig, _ in
            try await rig.waitForLink(.connected)
            #expect(rig.uptime > .seconds(30))
        }
    }

    @Test func `an attempt that hangs is ended by a stop, and by a reconnect`() throws {
        try AgentRig.running(given: { $0.open(.hang) }) { rig, agent in
            try await rig.sleep(for: .minutes(3))
            #expect(try await rig.ask(.reconnect, "r", of: agent).status == .done)
            try await rig.waitForLink(.connected)
        } then: { rig in
            let stuck = AgentRig(rig.environment)
            stuck.open(.hang)
            try await stuck.run { _ in try await rig.sleep(for: .minutes(3)) }
        }
    }

    @Test func `a reconnect ends the session and opens another one`() throws {
        try AgentRig.synced { rig, agent in
            let count = rig.count
            #expect(try await rig.ask(.reconnect, "r", of: agent).status == .done)
            try await rig.waitForLink(.connected, after: count)
            #expect(!rig.calls.contains(.shutdown))
        }
    }

    @Test func `a silent device is asked whether it is there, and lost when it does not answer`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            try await rig.sleep(for: .minutes(5))
            #expect((9...10).contains(rig.calls.count { $0 == .ping }))
            let count = rig.count
            rig.behave { $0 == .ping ? .hang : .answer }
            try await rig.waitForLink(.waiting, after: count)
            #expect(rig.states.contains { $0.asLink?.lastError?.contains("ping") == true })
        }
    }

    @Test func `a device that was not heard for long is offline`() throws {
        try AgentRig.synced(0..<3, deadline: .days(3)) { rig, _ in
            let count = rig.count
            rig.open(.refuse, .hang)
            rig.session?.disconnect()
            try await rig.wait(after: count) { $0 == .availability(isOnline: false) }
            #expect(rig.uptime >= .hours(24) && rig.uptime < .hours(24) + .minutes(1))
        }
    }

    @Test func `waits for a store that cannot be read, and answers what came meanwhile`() throws {
        try AgentRig.running(
            given: { rig in
                rig.store.fail { $0 == .load ? StoreError(.unavailable, "no disk") : nil }
            }
        ) { rig, agent in
            await rig.submit(.time, "t", to: agent)
            try await rig.sleep(for: .minutes(1))
        } then: { rig in
            #expect(rig.finals("t").map(\.code) == [.offline])
            let second = AgentRig(rig.environment, store: rig.store)
            try await second.run { _ in
                try await rig.sleep(for: .seconds(7))
                rig.store.fail(nil)
                try await second.waitForSync()
            }
        }
    }

    @Test func `a cancelled agent ends`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            let agent = rig.makeAgent()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await rig.run(agent) }
                try? await environment.gatewayClock.sleep(for: .milliseconds(Int64(environment.seed) * 500))
                group.cancelAll()
            }
            #expect(environment.uptime < .minutes(1))
        }
    }
}
