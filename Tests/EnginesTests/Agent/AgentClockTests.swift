import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The running day while the machine's clock is set wrong and right again.
@Suite struct AgentClockTests {
    private static let today = Fixture.utc.day(of: Fixture.noon)

    private func send(_ rig: AgentRig, _ minutes: ClosedRange<Int>) async {
        await rig.session?.send(.samples(minutes.map { Fixture.heartRate(60, at: $0) }, receipts: []))
    }

    /// Waits until the running day is `day`, with `count` heart rates.
    private func wait(_ rig: AgentRig, for day: LocalDay, with count: Int, after: Int) async throws {
        try await rig.wait(after: after) { state in
            guard case .today(let record) = state else { return false }
            return record.summary.metric == .heartRate && record.summary.day == day && record.summary.count == count
        }
    }

    /// Moves the clock, and waits until the agent has detected it and settled the days before.
    private func jump(_ environment: Simulation, by duration: Duration) async throws {
        environment.jumpDate(by: duration)
        try await environment.gatewayClock.sleep(for: .minutes(1))
    }

    @Test(arguments: [[3], [3, -3], [400, -410, 10], [-20, 20], [3, -10, 7]])
    func `a day goes on where it was, whatever the clock said meanwhile`(days: [Int]) throws {
        try AgentRig.synced(0..<5) { rig, _ in
            await send(rig, -5...0)
            try await wait(rig, for: Self.today, with: 6, after: 0)
            for jump in days { try await self.jump(rig.environment, by: .days(jump)) }
            rig.environment.correctDate()
            let count = rig.count
            await send(rig, 1...2)
            try await wait(rig, for: Self.today, with: 8, after: count)
        }
    }

    @Test func `a day that ended by a wrong clock goes on with the next start, and ends again`() throws {
        try AgentRig.everyOrder(0..<5, deadline: .days(2)) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await send(rig, -5...0)
                try await wait(rig, for: Self.today, with: 6, after: 0)
                try await jump(environment, by: .days(60))
            }
            environment.correctDate()
            let count = rig.count
            try await rig.run { _ in
                try await wait(rig, for: Self.today, with: 6, after: count)
                try await rig.waitForSync(after: count)
                await send(rig, 1...2)
                try await wait(rig, for: Self.today, with: 8, after: count)
                try await environment.gatewayClock.sleep(for: .hours(13))
            }
            #expect(rig.days.map(\.summary.day) == [Self.today, Self.today])
            #expect(rig.days.map(\.summary.count) == [6, 8])
            #expect(rig.days.map(\.revision) == [1, 2])
        }
    }
}
