import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentConnectionTests {
    @Test func `connects, sets the clock, reads the monitoring and the history, and goes live`() throws {
        try AgentRig.everyOrder { environment in
            let schedule = MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 30)
            let rig = AgentRig(
                environment,
                content: .init(
                    history: [.heartRate: (1...30).map { Fixture.heartRate(60, at: -$0) }],
                    monitors: [.bloodOxygen: MonitorConfiguration.fixture(of: .bloodOxygen, schedule: schedule)],
                    pageLimit: 7))
            rig.skew(by: .seconds(-90))
            try await rig.run { _ in
                let sync = try await rig.waitForSync()
                #expect(sync.job == "connect")
                #expect(sync.samplesNew == 30)
                await rig.session?.send(.samples([Fixture.heartRate(75, at: 0)], receipts: []))
                try await rig.wait {
                    if case .latest(let latest) = $0 { latest.stored.sample.reading == .value(75) } else { false }
                }
            }
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
            #expect(try await rig.store.record(of: Fixture.device).twin?.desired?[.bloodOxygen]?.schedule == schedule)
            #expect(rig.states.contains { if case .link(let link) = $0 { link.clockSkew == -90 } else { false } })
            #expect(rig.states.contains(.availability(isOnline: true)))
            guard case .link(let last) = rig.states.last(where: { $0.part == .link }) else { return }
            #expect(last.phase == .disabled)
        }
    }

    @Test func `an offline device does not spin, and is found when it comes`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            rig.open(.refuse, .refuse, .refuse, .refuse, .refuse, .refuse)
            try await rig.run { _ in
                try await rig.waitForLink(.connected)
                #expect(environment.uptime > .seconds(30))
            }
        }
    }

    @Test func `an attempt that hangs is ended by a stop, and by a reconnect`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            rig.open(.hang)
            try await rig.run { agent in
                try await environment.gatewayClock.sleep(for: .minutes(3))
                #expect(try await rig.ask(.reconnect, "r", of: agent).status == .done)
                try await rig.waitForLink(.connected)
            }
            let stuck = AgentRig(environment)
            stuck.open(.hang)
            try await stuck.run { _ in try await environment.gatewayClock.sleep(for: .minutes(3)) }
        }
    }

    @Test func `a reconnect ends the session and opens another one`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            try await rig.run { agent in
                try await rig.waitForSync()
                let count = rig.count
                #expect(try await rig.ask(.reconnect, "r", of: agent).status == .done)
                try await rig.waitForLink(.connected, after: count)
                #expect(!rig.calls.contains(.shutdown))
            }
        }
    }

    @Test func `a silent device is asked whether it is there, and lost when it does not answer`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                try await environment.gatewayClock.sleep(for: .minutes(5))
                #expect((9...10).contains(rig.calls.count { $0 == .ping }))
                let count = rig.count
                rig.behave { $0 == .ping ? .hang : .answer }
                try await rig.waitForLink(.waiting, after: count)
                #expect(
                    rig.states.contains {
                        if case .link(let link) = $0 { link.lastError?.contains("ping") == true } else { false }
                    })
            }
        }
    }

    @Test func `a device that was not heard for long is offline`() throws {
        try AgentRig.everyOrder(0..<3, deadline: .days(3)) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                let count = rig.count
                rig.open(.refuse, .hang)
                rig.session?.disconnect()
                try await rig.wait(after: count) { $0 == .availability(isOnline: false) }
                #expect(environment.uptime >= .hours(24) && environment.uptime < .hours(24) + .minutes(1))
            }
        }
    }

    @Test func `waits for a store that cannot be read, and answers what came meanwhile`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            rig.store.fail { $0 == .load ? StoreError(.unavailable, "no disk") : nil }
            try await rig.run { agent in
                await rig.submit(.time, "t", to: agent)
                try await environment.gatewayClock.sleep(for: .minutes(1))
            }
            #expect(rig.finals("t").map(\.code) == [.offline])
            let second = AgentRig(environment, store: rig.store)
            try await second.run { _ in
                try await environment.gatewayClock.sleep(for: .seconds(7))
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
