import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The time in heart-rate zones, for days and workouts.
@Suite struct AgentZoneTests {
    /// A device with a half-hour workout on each of two days, and heart rates every two minutes: 130 during a workout,
    /// 90 before and after.
    private static func rig(_ environment: Simulation) -> AgentRig {
        AgentRig(
            environment, capabilities: Capabilities([.heartRate: [.monitor, .history], .sport: [.history]]),
            content: .init(
                history: [
                    .sport: [-1_440, 0].map { Fixture.workout(at: $0 - 120, lasting: 30) },
                    .heartRate: [-1_440, 0].flatMap { Self.heartRates(from: $0 - 130) },
                ], monitors: [.heartRate: .fixture(of: .heartRate, exerciseMaximum: 200)]))
    }

    private static func heartRates(from minute: Int) -> [Sample] {
        (0..<25).map { Fixture.heartRate((5..<20).contains($0) ? 130 : 90, at: minute + $0 * 2) }
    }

    private func facts(_ rig: AgentRig, _ metric: Metric) -> [DailySummary] {
        rig.days.map(\.summary).filter { $0.metric == metric }
    }

    private func running(_ rig: AgentRig, _ metric: Metric) -> DailySummary? {
        rig.runningDays.last { $0.summary.metric == metric }?.summary
    }

    private func zones(_ summary: DailySummary?) -> [[Double]?] {
        guard case .sport(let totals) = summary?.details else { return [] }
        return totals.workouts.map { $0.zones?.minutes }
    }

    @Test
    func `a day and its workouts have minutes in zones, past and running, though heart rates come after workouts`()
        throws
    {
        try AgentRig.synced(0..<10, from: { Self.rig($0) }) { rig, _ in
            #expect(facts(rig, .heartRate).map(\.zones?.minutes) == [[0, 30, 0, 0, 0]])
            // First without heart rates, then again with them.
            #expect(facts(rig, .sport).map(zones) == [[[0, 0, 0, 0, 0]], [[0, 30, 0, 0, 0]]])
            #expect(running(rig, .heartRate)?.zones?.minutes == [0, 30, 0, 0, 0])
            #expect(zones(running(rig, .sport)) == [[0, 30, 0, 0, 0]])
        }
    }

    @Test func `a heart rate that comes late corrects the workout that it belongs to`() throws {
        try AgentRig.synced(0..<10, from: { Self.rig($0) }) { rig, agent in
            let days = facts(rig, .sport).count
            rig.change { $0.history[.heartRate]?.append(Fixture.heartRate(190, at: -1_440 - 111)) }
            rig.change { $0.history[.heartRate]?.append(Fixture.heartRate(190, at: -111)) }
            let from = Fixture.noon - .days(2)
            _ = try await rig.ask(.sync(metrics: [.heartRate], from: from, to: nil), "s", of: agent)
            #expect(zones(facts(rig, .sport).last) == [[0, 29, 0, 0, 1]])
            #expect(facts(rig, .sport).count == days + 1)
            try await rig.wait { $0.asToday.map { zones($0.summary) == [[0, 29, 0, 0, 1]] } == true }
            #expect(running(rig, .heartRate)?.zones?.minutes == [0, 29, 0, 0, 1])
        }
    }

    @Test func `live heart rates count as they come, and another maximum counts the running day anew`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = Self.rig(environment)
            try await rig.run { agent in
                try await rig.waitForSync()
                for minute in 1...3 {
                    try await environment.gatewayClock.sleep(for: .minutes(1))
                    await rig.session?.send(.samples([Fixture.heartRate(170, at: minute)], receipts: []))
                }
                try await environment.gatewayClock.sleep(for: .seconds(10))
                #expect(running(rig, .heartRate)?.zones?.minutes == [0, 30, 0, 2, 0])
                let patch = MonitorPatch([MonitorSetting(.heartRate, .exerciseMaximum): .number(170)])
                _ = try await rig.ask(.configure(patch, ifVersion: nil, adopts: false), "c", of: agent)
                try await environment.gatewayClock.sleep(for: .seconds(10))
                #expect(running(rig, .heartRate)?.zones?.minutes == [23, 0, 30, 0, 2])
                #expect(zones(running(rig, .sport)) == [[0, 0, 30, 0, 0]])
            }
            // A restart loses nothing.
            let count = rig.count
            rig.open(.hang)
            try await rig.run { _ in
                try await rig.wait(after: count) { $0.asToday?.summary.zones?.minutes == [23, 0, 30, 0, 2] }
            }
        }
    }

    @Test func `there are none where the setting is not`() throws {
        try AgentRig.synced(
            0..<3, capabilities: Capabilities([.sport: [.history]]),
            content: .init(history: [.sport: [Fixture.workout(at: -120, lasting: 30)]])
        ) { rig, _ in
            #expect(zones(running(rig, .sport)) == [nil])
        }
    }
}
