import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// A device's own summary of a day, beside the summary of its samples.
@Suite struct AgentSummaryTests {
    private static let today = Fixture.utc.day(of: Fixture.noon)

    private static func summary(_ days: Int, average: Double) -> DailySummary {
        DailySummary(
            metric: .stress, day: today.advanced(by: days), count: 40, manualCount: 0, average: average,
            details: .values(DailySummary.Extremes()))
    }

    private static func rig(_ environment: Simulation) -> AgentRig {
        AgentRig(
            environment, capabilities: Capabilities([.stress: [.history, .summary]]),
            content: .init(
                history: [.stress: (0..<3).map { Fixture.sample(.stress, Double(20 + $0), at: -$0 * 1440) }],
                summaries: [.stress: (0..<3).map { summary(-$0, average: Double(30 + $0)) }]))
    }

    @Test func `stands in the day, past or running, as it is published and answered`() throws {
        try AgentRig.synced(0..<10, from: { Self.rig($0) }) { rig, agent in
            #expect(rig.days.map(\.summary.average) == [22, 21])
            #expect(rig.days.map(\.deviceSummary?.average) == [32, 31])
            #expect(rig.runningDays.last?.summary.average == 20)
            #expect(rig.runningDays.last?.deviceSummary?.average == 30)
            let answer = try await rig.ask(
                .daily(.stress, from: Self.today.advanced(by: -2), to: Self.today, syncsFirst: false), "d",
                of: agent)
            let days = try #require(answer.asDays, "\(answer)")
            #expect(days.map(\.deviceSummary?.average) == [32, 31, 30])
        }
    }

    @Test func `is published again with a higher revision where the device changes it, and only then`() throws {
        try AgentRig.synced(0..<10, from: { Self.rig($0) }) { rig, agent in
            let since = SyncPolicy.epoch
            let value = try await rig.ask(.sync(metrics: [.stress], from: since, to: nil), "a", of: agent).status
            #expect(value == .done)
            #expect(rig.days.count == 2)
            let reported = rig.runningDays.filter { $0.deviceSummary != nil }
            #expect(reported.count == 1)
            rig.change { $0.summaries[.stress]?[1].average = 41 }
            rig.change { $0.summaries[.stress]?[0].average = 40 }
            #expect(try await rig.ask(.sync(metrics: [.stress], from: since, to: nil), "b", of: agent).status == .done)
            #expect(rig.days.map(\.deviceSummary?.average) == [32, 31, 41])
            #expect(rig.days.map(\.revision) == [1, 1, 2])
            #expect(rig.days.last?.summary.average == 21)
            #expect(rig.runningDays.last?.deviceSummary?.average == 40)
        }
    }

    @Test func `is asked for the days of the range that is read, however long ago they are`() throws {
        try AgentRig.synced(0..<3, from: { Self.rig($0) }) { rig, agent in
            for (begin, end) in [(2, 1), (200, 199)] {
                let command = DeviceCommand.sync(
                    metrics: [.stress], from: Fixture.noon - .days(begin), to: Fixture.noon - .days(end))
                let answer = try await rig.ask(command, "s\(begin)", of: agent)
                #expect(answer.status == .done)
            }
        } then: { rig in
            let asked = rig.calls.compactMap(\.asSummaries)
            let first = Self.today.advanced(by: -30)
            let ranges = [(2, 1), (200, 199)].map { Self.today.advanced(by: -$0)...Self.today.advanced(by: -$1) }
            #expect(asked == [first...Self.today] + ranges)
        }
    }

    @Test func `is all that there is of a metric without records, and is synchronised like one with them`() throws {
        try AgentRig.running(
            0..<10, capabilities: Capabilities([.stress: [.summary], .heartRate: [.history]]),
            content: .init(summaries: [.stress: (0..<2).map { Self.summary(-$0, average: Double(30 + $0)) }])
        ) { rig, agent in
            let sync = try await rig.waitForSync()
            #expect(sync.phase == .idle)
            #expect(sync.metricsDone == 2 && sync.metricsTotal == 2)
            #expect(rig.days.map(\.deviceSummary?.average) == [31])
            #expect(rig.runningDays.last?.deviceSummary?.average == 30)
            rig.change { $0.summaries[.stress]?[1].average = 41 }
            let yesterday = Self.today.advanced(by: -1)
            let answer = try await rig.ask(
                .daily(.stress, from: yesterday, to: yesterday, syncsFirst: true), "d", of: agent)
            let days = try #require(answer.asDays, "\(answer)")
            #expect(days.map(\.deviceSummary?.average) == [41])
            let history = try await rig.ask(
                .history(.stress, from: nil, to: nil, limit: 9, page: nil, syncsFirst: true, isUserInitiated: nil), "h",
                of: agent)
            #expect(history.code == .unsupported)
        } then: { rig in
            let isRead = rig.calls.contains { call in
                if case .history(let request) = call { request.metric == .stress } else { false }
            }
            #expect(!isRead)
        }
    }

    private static func summaryOnly(_ environment: Simulation) -> AgentRig {
        AgentRig(
            environment, capabilities: Capabilities([.stress: [.summary], .heartRate: [.history]]),
            content: .init(summaries: [.stress: (0..<2).map { summary(-$0, average: Double(30 + $0)) }]))
    }

    @Test func `a synchronisation says where it could not be read and is all that there is`() throws {
        try AgentRig.running(
            0..<10, from: { Self.summaryOnly($0) },
            given: { $0.behave(.fail(DeviceError(.busy, "Not now.")), on: .summaries) }
        ) { rig, agent in
            let sync = try await rig.waitForSync()
            #expect(sync.phase == .failed)
            #expect(sync.failed == [.init(metric: .stress, code: .busy, message: "Not now.")])
            #expect(sync.lastSuccessAt == nil)
            let answer = try await rig.ask(.sync(metrics: [.stress], from: nil, to: nil), "s", of: agent)
            #expect(answer.status == .failed && answer.code == .busy)
            let day = try await rig.ask(
                .daily(.stress, from: Self.today, to: Self.today, syncsFirst: true), "d", of: agent)
            #expect(day.status == .failed && day.code == .busy)
            rig.behave(.hang, on: .summaries)
            let count = rig.count
            let lost = try await rig.ask(.sync(metrics: [.stress], from: nil, to: nil), "t", of: agent)
            #expect(lost.status == .failed && lost.code == .offline)
            rig.behave { _ in .answer }
            try await rig.waitForLink(.connected, after: count)
            let again = try await rig.ask(.sync(metrics: [.stress], from: nil, to: nil), "a", of: agent)
            #expect(again.status == .done)
        }
    }

    @Test func `the day of a metric without records begins anew after a night without the gateway, too`() throws {
        try AgentRig.everyOrder(0..<10, deadline: .days(2)) { environment in
            let rig = Self.summaryOnly(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                #expect(rig.runningDays.last?.summary.day == Self.today)
                // Either this run settles the day in the evening, or it ends before and the next run does.
                if environment.seed % 2 == 0 { try await environment.gatewayClock.sleep(for: .hours(13)) }
            }
            let days = environment.seed % 2 == 0 ? 2 : 1
            try await environment.gatewayClock.sleep(for: .hours(days == 2 ? 24 : 13))
            let count = rig.count
            rig.open(.hang)
            try await rig.run { _ in
                try await rig.wait(after: count) {
                    $0.asToday.map {
                        $0.summary.metric == .stress && $0.deviceSummary == nil
                            && $0.summary.day == Self.today.advanced(by: days)
                    } == true
                }
            }
        }
    }

    @Test func `a device that cannot say it fails the metric, and does not keep the day from being published`() throws {
        try AgentRig.running(
            0..<5, from: { Self.rig($0) }, given: { $0.behave(.fail(DeviceError(.failure, "No.")), on: .summaries) }
        ) { rig, _ in
            let sync = try await rig.waitForSync()
            #expect(sync.phase == .failed)
            #expect(sync.rows.map(\.state) == [.failed])
            #expect(sync.samplesNew == 3)
            #expect(rig.days.map(\.summary.average) == [22, 21])
            #expect(rig.days.allSatisfy { $0.deviceSummary == nil })
        }
    }
}
