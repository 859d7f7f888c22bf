import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Samples whose source says where they were measured, and how far the reading of files is.
@Suite struct AgentOffsetTests {
    private static let today = Fixture.berlin.day(of: Fixture.noon)

    private static func sample(_ metric: Metric = .stress, hours: Int, offset: Int16? = nil) -> Sample {
        var sample = Sample(metric: metric, start: Fixture.noon - .hours(hours), reading: .value(50))
        sample.utcOffset = offset
        return sample
    }

    @Test func `a day has the samples that are of it by their own zone, and no others`() throws {
        // In Berlin the day begins 13 hours before. Tokyo is farther, New York behind.
        let samples = [
            Self.sample(hours: 14, offset: 540), Self.sample(hours: 12, offset: -300), Self.sample(hours: 1),
        ]
        let rig = { @Sendable (environment: Simulation) in
            AgentRig(
                environment, capabilities: Capabilities([.stress: [.history]]),
                content: .init(history: [.stress: samples]), policy: DevicePolicy(calendar: Fixture.berlin))
        }
        try AgentRig.synced(0..<3, from: rig) { rig, agent in
            let answer = try await rig.ask(
                .daily(.stress, from: Self.today.advanced(by: -1), to: Self.today, syncsFirst: false), "d", of: agent)
            let days = try #require(answer.asDays).filter { $0.summary.count > 0 }
            #expect(days.map(\.summary.day) == [Self.today.advanced(by: -1), Self.today])
            #expect(days.map(\.summary.count) == [1, 2])
        }
    }

    @Test func `a sample that moves to the day of its own zone changes both days`() {
        let day = Fixture.utc.day(of: Fixture.noon)
        var projection = SampleProjection(device: Fixture.device, today: RunningDay(day: day))
        let context = IngestContext(
            source: .live, now: Fixture.noon, freshness: [:], settings: Fixture.limits, policy: AlertPolicy(count: [:]),
            isWorn: true, calendar: Fixture.utc)
        let stored = Fixture.stored(Self.sample(hours: 11, offset: -300))
        let outcome = projection.record([SampleOutcome(stored: stored, novelty: .corrected)], in: context)
        #expect(outcome.unsettledDays == [MetricDay(.stress, day.advanced(by: -1)), MetricDay(.stress, day)])
        #expect(projection.today.outdated == [.stress])
    }

    @Test func `how much of an export was read stands in the state, until that is over`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            for share in [0.421, 1, nil] as [Double?] {
                await rig.session?.send(.progress(share))
                try await rig.wait { state in
                    if case .sync(let sync) = state { sync.importPercent == share.map { Int($0 * 100) } } else { false }
                }
            }
        }
    }
}
