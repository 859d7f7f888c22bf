import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Synchronisations of a range, alone and before a query of the store.
@Suite struct AgentRangeTests {
    private static let resting = Sample(
        metric: .restingHeartRate, start: Fixture.noon - .hours(5), kind: .resting, reading: .value(52))
    private static let capabilities = Capabilities([.heartRate: [.history], .restingHeartRate: [.history]])

    private func rig(_ environment: Simulation, _ content: ScriptedSession.Content = .init()) -> AgentRig {
        AgentRig(
            environment, capabilities: Self.capabilities, content: content,
            policy: DevicePolicy(sync: SyncPolicy(first: .hours(1)), calendar: Fixture.berlin))
    }

    /// The range of the device's last history request for a metric.
    private func range(of metric: Metric, _ rig: AgentRig) -> Range<Timestamp>? {
        rig.calls.compactMap { call in
            if case .history(let request) = call, request.metric == metric { request.from..<request.to } else { nil }
        }.last
    }

    @Test func `today's resting heart rate is read from the device, and answered`() throws {
        try AgentRig.running(
            0..<5, from: { rig($0, .init(history: [.restingHeartRate: [Self.resting]])) }
        ) { rig, agent in
            let today = Fixture.berlin.day(of: Fixture.noon)
            try await rig.waitForSync()
            // It is older than the hour that the first synchronisation reads.
            #expect(try await rig.store.samples(of: Fixture.device).isEmpty)
            let answer = try await rig.ask(
                .daily(.restingHeartRate, from: today, to: today, syncsFirst: true), "d", of: agent)
            guard case .days(let days) = answer.data, case .values(let details) = days.first?.summary.details else {
                Issue.record("\(answer)")
                return
            }
            #expect(days.map(\.summary.day) == [today])
            #expect(details.resting.map(\.sample.reading) == [.value(52)])
            let midnight = Fixture.berlin.bounds(of: today).lowerBound
            #expect(range(of: .restingHeartRate, rig)?.lowerBound == midnight)
        }
    }

    @Test func `days are read whole, from one local midnight to another`() throws {
        try AgentRig.synced(0..<5, from: { rig($0) }) { rig, agent in
            // The day of the autumn clock change has 25 hours.
            let autumn = try #require(LocalDay("2026-10-25"))
            let days = autumn...autumn.advanced(by: 1)
            _ = try await rig.ask(
                .daily(.heartRate, from: days.lowerBound, to: days.upperBound, syncsFirst: true), "d", of: agent)
            let asked = try #require(range(of: .heartRate, rig))
            #expect(asked.lowerBound == Fixture.berlin.bounds(of: days.lowerBound).lowerBound)
            #expect(asked.upperBound == Fixture.berlin.bounds(of: days.upperBound).upperBound)
            #expect(asked.upperBound - asked.lowerBound == .hours(49))
        }
    }

    @Test func `a sync from a start goes until now, and one of a range reads that range alone`() throws {
        let old = Fixture.heartRate(61, at: -3 * 24 * 60)
        try AgentRig.synced(
            0..<5, from: { rig($0, .init(history: [.heartRate: [old, Fixture.heartRate(62, at: -90)]])) }
        ) { rig, agent in
            let from = Fixture.noon - .hours(2)
            let open = try await rig.ask(.sync(metrics: [.heartRate], from: from, to: nil), "a", of: agent)
            #expect(open.brought == [1, 0])
            #expect(try #require(range(of: .heartRate, rig)?.upperBound) >= rig.environment.date)
            let day = from - .days(4)..<from - .days(2)
            let closed = try await rig.ask(
                .sync(metrics: [.heartRate], from: day.lowerBound, to: day.upperBound), "b", of: agent)
            #expect(closed.brought == [1, 0])
            #expect(range(of: .heartRate, rig) == day)
        }
    }

    @Test func `whoever asks for one more synchronisation than may wait is rejected as busy, in every way of asking`()
        throws
    {
        try AgentRig.synced(0..<5, from: { rig($0) }) { rig, agent in
            rig.behave(.delay(.seconds(20)), on: .history)
            // One synchronisation runs, the others wait; each has another range.
            let from = Fixture.noon - .hours(9)
            for number in 0...SyncPolicy.maximumJobs {
                let sync = DeviceCommand.sync(
                    metrics: [.heartRate], from: from + .minutes(number), to: from + .hours(1))
                await rig.submit(sync, "r\(number)", to: agent)
                try await rig.sleep(for: .milliseconds(100))
            }
            let today = Fixture.berlin.day(of: Fixture.noon)
            let asked: [DeviceCommand] = [
                .sync(metrics: [.heartRate], from: from - .hours(1), to: nil),
                .history(.heartRate, from: from, to: nil, limit: 1, page: nil, syncsFirst: true),
                .daily(.heartRate, from: today, to: today, syncsFirst: true),
            ]
            for (number, command) in asked.enumerated() {
                let answer = try await rig.ask(command, "busy\(number)", of: agent)
                #expect(answer.status == .rejected && answer.code == .busy, "\(command.name): \(answer)")
            }
            for number in 0...SyncPolicy.maximumJobs {
                #expect(try await rig.answer("r\(number)").status == .done)
            }
        }
    }
}
