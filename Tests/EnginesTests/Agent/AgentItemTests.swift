import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// The samples of days, and days without samples.
@Suite struct AgentItemTests {
    private static let today = Fixture.utc.day(of: Fixture.noon)

    private static func rig(_ environment: Simulation, _ history: [Metric: [Sample]]) -> AgentRig {
        let abilities = [Metric.heartRate, .sleep, .steps].map { ($0, Abilities.history) }
        return AgentRig(
            environment, capabilities: Capabilities(Dictionary(uniqueKeysWithValues: abilities)),
            content: .init(history: history))
    }

    private func ask(
        _ metric: Metric, days: Int = 1, items: Bool = true, of agent: DeviceAgent, _ rig: AgentRig, _ key: String = "d"
    ) async throws -> Answer {
        try await rig.ask(
            .daily(
                metric, from: Self.today.advanced(by: 1 - days), to: Self.today, syncsFirst: false, listsItems: items),
            key, of: agent)
    }

    private func days(_ answer: Answer) -> [ItemisedDay] {
        answer.asItemisedDays ?? []
    }

    @Test func `lists what a person started, what was automatic, and nothing of other days`() throws {
        let samples = [-1_000, -60, -50, -40].map { Fixture.heartRate(60, at: $0, isManual: $0 == -50) }
        let night = Sample(
            metric: .sleep, start: Fixture.minute(-800), end: Fixture.minute(-300),
            reading: .sleep(
                Sleep(stages: [Sleep.Stage(.deep, from: Fixture.minute(-800), to: Fixture.minute(-300))])))
        try AgentRig.synced(0..<5, from: { Self.rig($0, [.heartRate: samples, .sleep: [night]]) }) { rig, agent in
            let day = try #require(days(try await ask(.heartRate, of: agent, rig)).first)
            #expect(day.manual.map(\.sample) == [samples[2]])
            #expect(day.automatic.map(\.sample) == [samples[1], samples[3]])
            #expect(day.next == nil)
            #expect(day.record.summary.count == 3)
            // It began yesterday, but belongs to the day on which it ended.
            let nights = days(try await ask(.sleep, days: 3, of: agent, rig, "s"))
            #expect(nights.map { $0.automatic.map(\.sample) } == [[night]])
            let plain = try await ask(.heartRate, items: false, of: agent, rig, "p")
            #expect(days(plain).isEmpty && plain.status == .done)
        }
    }

    @Test func `lists the first five hundred samples of a day, and where history goes on`() throws {
        let samples = (0..<700).map { Fixture.heartRate(60, at: -700 + $0) }
        try AgentRig.synced(0..<2, from: { Self.rig($0, [.heartRate: samples]) }) { rig, agent in
            let day = try #require(days(try await ask(.heartRate, of: agent, rig)).first)
            #expect(day.automatic.map(\.sample) == Array(samples.prefix(500)))
            let rest = try await rig.ask(
                .history(
                    .heartRate, from: Fixture.noon - .hours(12), to: nil, limit: 500, page: day.next,
                    syncsFirst: false), "h", of: agent)
            guard case .samples(let found, _, let next) = rest.data else {
                Issue.record("\(rest)")
                return
            }
            #expect(found.map(\.sample) == Array(samples.dropFirst(500)))
            #expect(next == nil)
        }
    }

    @Test func `more samples than an answer takes are not read`() throws {
        let samples = (0..<5).flatMap { day in (0..<600).map { Fixture.heartRate(60, at: $0 - 1_440 * day - 700) } }
        try AgentRig.synced(0..<2, from: { Self.rig($0, [.heartRate: samples]) }) { rig, agent in
            let listed = days(try await ask(.heartRate, days: 5, of: agent, rig))
            #expect(listed.map(\.record.summary.day) == [-4, -3].map { Self.today.advanced(by: $0) })
            #expect(listed.allSatisfy { $0.automatic.count == 500 && $0.next != nil })
        }
    }

    @Test func `a day that was read and has nothing is zero, published and answered`() throws {
        try AgentRig.synced(
            0..<10, from: { Self.rig($0, [:]) },
            given: { rig in
                rig.behave {
                    if case .history(let request) = $0, request.metric == .steps {
                        .fail(DeviceError(.busy, ""))
                    } else {
                        .answer
                    }
                }
            }
        ) { rig, agent in
            @Sendable func running() -> [DailySummary] {
                rig.runningDays.map(\.summary).filter { $0.metric == .steps }
            }
            // The read failed, so nothing is known.
            #expect(running().isEmpty)
            rig.behave { _ in .answer }
            let part = try await rig.ask(.sync(metrics: [.steps], from: Fixture.minute(-10), to: nil), "p", of: agent)
            #expect(part.status == .done && running().isEmpty)
            _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "s", of: agent)
            #expect(running().map(\.details) == [.count(total: 0, distance: nil, energy: nil)])
            let answer = try await ask(.steps, days: 3, items: false, of: agent, rig)
            let days = try #require(answer.asDays, "\(answer)")
            #expect(days.map(\.summary.count) == [0] && days.map(\.summary.day) == [Self.today])
            // Reading it again changes nothing.
            _ = try await rig.ask(.sync(metrics: [], from: nil, to: nil), "t", of: agent)
            #expect(running().count == 1)
        }
    }

    @Test func `resting items are the same in the days of both metrics of the heart, wherever they come from`() throws {
        let abilities = [Metric.heartRate, .restingHeartRate].map { ($0, Abilities.history) }
        let rates = [-1_500, -1_495, -60].map {
            Fixture.heartRate(50, at: $0, kind: $0 == -1_495 ? .normal : .resting)
        }
        // The first has the same moment and value as a heart rate.
        let resting = [-1_500, -1_490, -50].map { Fixture.sample(.restingHeartRate, 50, at: $0) }
        try AgentRig.synced(
            0..<10, capabilities: Capabilities(Dictionary(uniqueKeysWithValues: abilities)),
            content: .init(history: [.heartRate: rates, .restingHeartRate: resting])
        ) { rig, agent in
            for metric in [Metric.heartRate, .restingHeartRate] {
                let past = rig.days.map(\.summary).last { $0.metric == metric }
                #expect(past?.resting.map(\.sample) == [rates[0], resting[1]], "\(metric)")
                let today = rig.runningDays.map(\.summary).last { $0.metric == metric }
                #expect(today?.resting.map(\.sample) == [rates[2], resting[2]], "\(metric)")
            }
            let days = try await rig.store.days(of: Fixture.device).count
            // The same history again settles no day anew.
            _ = try await rig.ask(.sync(metrics: [], from: Fixture.noon - .days(3), to: nil), "s", of: agent)
            #expect(try await rig.store.days(of: Fixture.device).count == days)
            #expect(try await rig.store.days(of: Fixture.device).map(\.revision).allSatisfy { $0 <= 2 })
        }
    }

    @Test(arguments: [Metric.heartRate, .restingHeartRate])
    func `resting items are the same in the days of both metrics if only one has samples`(only: Metric) throws {
        let abilities = [Metric.heartRate, .restingHeartRate].map { ($0, Abilities.history) }
        let items = [-1_500, -1_490].map {
            Sample(metric: only, start: Fixture.minute($0), kind: .resting, reading: .value(50))
        }
        // A day with nothing at rest is no day of the partner.
        let plain = only == .heartRate ? [Fixture.heartRate(60, at: -3_000)] : []
        try AgentRig.synced(
            0..<5, capabilities: Capabilities(Dictionary(uniqueKeysWithValues: abilities)),
            content: .init(history: [only: plain + items])
        ) { rig, agent in
            for metric in [Metric.heartRate, .restingHeartRate] {
                let answer = try await ask(metric, days: 5, items: false, of: agent, rig, metric.rawValue)
                let days = try #require(answer.asDays, "\(answer)")
                let past = days.map(\.summary).filter { $0.day < Self.today }
                #expect(past.last?.resting.map(\.sample) == items, "\(metric)")
                #expect(past.map(\.count) == (metric == only ? plain.map { _ in 1 } + [2] : [0]), "\(metric)")
                let published = rig.days.map(\.summary).filter { $0.metric == metric }
                #expect(Set(published.map(\.day)) == Set(past.map(\.day)), "\(metric)")
                #expect(published.last == past.last, "\(metric)")
            }
        }
    }

    @Test func `a metric that the device lacks has no day of resting items`() throws {
        let items = [-1_500, -1_490].map { Fixture.heartRate(50, at: $0, kind: .resting) }
        try AgentRig.synced(0..<2, from: { Self.rig($0, [.heartRate: items]) }) { rig, agent in
            let value = try await rig.store.days(of: Fixture.device).map(\.summary.metric)
            #expect(value == [.heartRate])
        }
    }
}
