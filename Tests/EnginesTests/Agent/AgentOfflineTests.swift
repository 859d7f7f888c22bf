import Concurrency
import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// An offline device: what it costs, and what consumers see of it.
@Suite struct AgentOfflineTests {
    @Test func `while it waits nothing sleeps but the task of the timers, which has two for it`() throws {
        try AgentRig.running(deadline: .days(2), given: { $0.refuse(.max) }) { rig, _ in
            for _ in 0..<50 {
                // At odd moments, so that none of them is one of an attempt.
                try await rig.sleep(for: .milliseconds(601_237))
                // The next attempt, and the next tick.
                #expect(rig.timers.count == 2)
                #expect(rig.environment.executor.sleeperCount == 1)
            }
        } then: { rig in
            #expect(rig.timers.count == 0)
        }
    }

    @Test func `a device that never connected has all its states, and then only those of its attempts`() throws {
        try AgentRig.everyOrder(deadline: .days(2)) { environment in
            let rig = AgentRig(environment)
            rig.refuse(.max)
            try await rig.run { _ in try await environment.gatewayClock.sleep(for: .days(1)) }
            let parts: [DeviceState.Part] = [.info, .availability, .link, .config, .sync, .measure, .wear]
            #expect(Array(rig.states.map(\.part).prefix(parts.count)) == parts)
            let later = rig.states.dropFirst(parts.count)
            #expect(later.allSatisfy { $0.part == .link })
            let links = later.compactMap(\.asLink)
            // One attempt every five minutes at most, and as many that fail; the end is the last one.
            #expect(links.count < 2 * 24 * 60 / 2)
            #expect(links.last?.phase == .disabled)
            #expect(links.dropLast().suffix(2).map(\.phase) == [.connecting, .waiting])
            #expect(links.dropLast().last?.lastError == "It is offline.")
        }
    }

    @Test func `a device that is seen is connected at once, but not within a second of the last attempt`() throws {
        try AgentRig.running(given: { $0.refuse(.max) }) { rig, _ in
            try await rig.sleep(for: .minutes(10))
            let count = rig.count
            rig.presence.sawDevice()
            try await rig.waitForLink(.connecting, after: count)
            let attempt = rig.uptime
            rig.presence.sawDevice()
            try await rig.waitForLink(.waiting, after: count)
            try await rig.waitForLink(.connecting, after: rig.count)
            #expect(rig.uptime - attempt == .seconds(1))
            // A report counts once.
            let quiet = rig.count
            try await rig.sleep(for: .seconds(2))
            #expect(rig.count <= quiet + 1)
        }
    }

    @Test func `a device that is seen and cannot be connected is tried every fifteen seconds in the end`() throws {
        try AgentRig.running(given: { $0.refuse(.max) }) { rig, _ in
            // As a wearable does at the edge of its range.
            @Sendable func advertise(for duration: Duration) async throws {
                let end = rig.uptime + duration
                while rig.uptime < end {
                    rig.presence.sawDevice()
                    try await rig.sleep(for: .milliseconds(700))
                }
            }
            @Sendable func attempts(after count: Int) -> Int {
                rig.events.elements.dropFirst(count).count {
                    if case .state(.link(let link)) = $0 { link.phase == .connecting } else { false }
                }
            }
            // The waits without a report are long by then.
            try await rig.sleep(for: .minutes(30))
            try await advertise(for: .minutes(1))
            let count = rig.count
            try await advertise(for: .minutes(10))
            #expect((36...41).contains(attempts(after: count)), "\(attempts(after: count))")
            rig.refuse(0)
            try await advertise(for: .seconds(16))
            #expect(rig.states.last { if case .link = $0 { true } else { false } }?.isConnected == true)
            // A session forgives them.
            rig.refuse(1)
            let lost = rig.count
            rig.session?.disconnect()
            try await advertise(for: .seconds(5))
            #expect(attempts(after: lost) >= 2)
            #expect(rig.states.last { if case .link = $0 { true } else { false } }?.isConnected == true)
        }
    }

    @Test func `a date that is set while the device is offline takes effect within five minutes`() throws {
        try AgentRig.synced { rig, _ in
            rig.refuse(.max)
            rig.session?.disconnect()
            try await rig.sleep(for: .minutes(20))
            let count = rig.count
            rig.environment.jumpDate(by: .days(2))
            let jump = rig.uptime
            try await rig.wait(after: count) { $0 == .availability(isOnline: false) }
            #expect(rig.uptime - jump <= DeviceAgent.longestInterval + .seconds(1))
        }
    }

    @Test func `a disconnected device goes offline in time`() throws {
        try AgentRig.synced(deadline: .days(2)) { rig, _ in
            rig.refuse(.max)
            let (seen, count) = (rig.uptime, rig.count)
            rig.session?.disconnect()
            try await rig.wait(after: count) { $0 == .availability(isOnline: false) }
            // Twenty-four hours of silence.
            #expect(rig.uptime - seen >= .hours(23))
            #expect(rig.uptime - seen <= .hours(24) + .seconds(1))
        }
    }

    @Test func `a command of an offline device is answered, and leaves nothing waiting`() throws {
        try AgentRig.running(given: { $0.refuse(.max) }) { rig, agent in
            try await rig.sleep(for: .minutes(10))
            #expect(try await rig.ask(.time, "now", of: agent).code == .offline)
            #expect(try await rig.ask(.time, "later", of: agent, expiresIn: .minutes(3)).code == .expired)
            try await rig.sleep(for: .milliseconds(37))
            #expect(rig.timers.count == 2)
            #expect(rig.environment.executor.sleeperCount == 1)
        }
    }
}

extension DeviceState {
    fileprivate var isConnected: Bool { asLink?.phase == .connected }
}
