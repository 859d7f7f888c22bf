import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentLiveTests {
    private static let settings: DevicePolicy = DevicePolicy(
        alerts: AlertPolicy(count: [:]), calendar: Fixture.utc)

    private func live(_ rig: AgentRig, _ samples: [Sample], receipts: [String] = []) async {
        await rig.session?.send(.samples(samples, receipts: receipts.map { SampleReceipt($0) }))
    }

    /// Sets limits of the resting heart rate: 40 to 100.
    private func limit(_ rig: AgentRig, _ agent: DeviceAgent) async throws {
        var limits = MonitorSettings()
        limits.set(
            MonitorConfiguration.fixture(
                of: .heartRate, limits: [.resting: AlertLimits(isEnabled: true, lower: 40, upper: 100)]))
        let answer = try await rig.ask(
            .configure(MonitorPatch(limits.values), ifVersion: nil, adopts: false), "c", of: agent)
        #expect(answer.status == .done, "\(answer)")
    }

    @Test func `the device hears what is durable, after the commit, and what is refused`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                let future = Fixture.heartRate(60, at: 60)
                await live(
                    rig, [Fixture.heartRate(60, at: 0), Fixture.heartRate(500, at: 0), future],
                    receipts: ["a", "b", "c"])
                try await rig.wait { $0.part == .latest(.heartRate) }
                while rig.calls.allSatisfy({ if case .settle = $0 { false } else { true } }) {
                    try await environment.gatewayClock.sleep(for: .milliseconds(1))
                }
            }
            guard
                case .settle(let receipts, let outcomes) = rig.calls.first(where: {
                    if case .settle = $0 { true } else { false }
                })
            else { return }
            #expect(receipts.map(\.mark) == ["a", "b", "c"])
            let refusals = outcomes.map { outcome -> DeviceError.Code? in
                if case .refused(let error) = outcome { error.code } else { nil }
            }
            #expect(refusals == [nil, .invalid, .invalid])
            #expect(try await rig.store.samples(of: Fixture.device).count == 1)
        }
    }

    @Test func `samples wait for a full disk, and the device is neither informed nor lost`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
                await live(rig, [Fixture.heartRate(60, at: 0)], receipts: ["a"])
                let alert = DeviceAlert(rule: Fixture.restingHigh, edge: .raised, value: 130, at: Fixture.noon)
                await rig.session?.send(.alert(alert))
                try await environment.gatewayClock.sleep(for: .minutes(3))
                #expect(!rig.calls.contains { if case .settle = $0 { true } else { false } })
                #expect(!rig.states.contains { if case .link(let link) = $0 { link.phase == .waiting } else { false } })
                rig.store.fail(nil)
                try await rig.wait { if case .level(let level) = $0 { level.isActive } else { false } }
                #expect(rig.calls.contains { if case .settle = $0 { true } else { false } })
            }
            #expect(try await rig.store.samples(of: Fixture.device).count == 1)
            #expect(rig.store.facts.map(\.lane) == [.live, .alert])
        }
    }

    @Test func `the latest goes stale on time, once, and comes back with the next sample`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await live(rig, [Fixture.heartRate(60, at: 0)])
                try await rig.wait { if case .latest(let latest) = $0 { latest.isStale } else { false } }
                #expect(environment.uptime >= .minutes(30) && environment.uptime < .minutes(30) + .milliseconds(20))
                try await environment.gatewayClock.sleep(for: .minutes(10))
                await live(rig, [Fixture.heartRate(61, at: 40)])
                try await rig.wait {
                    if case .latest(let latest) = $0 { latest.stored.sample.reading == .value(61) } else { false }
                }
            }
            #expect(rig.latest.map(\.isStale) == [false, true, false])
        }
    }

    @Test func `late live samples do not move the latest`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await live(rig, [Fixture.heartRate(60, at: 0)])
                try await rig.wait { $0.part == .latest(.heartRate) }
                await live(rig, [Fixture.heartRate(90, at: -5), Fixture.heartRate(61, at: 1)])
                try await rig.wait {
                    if case .latest(let latest) = $0 { latest.stored.sample.start == Fixture.minute(1) } else { false }
                }
            }
            #expect(rig.latest.map(\.stored.sample.start) == [Fixture.noon, Fixture.minute(1)])
        }
    }

    @Test func `a live sample and its copy in the history are one`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, policy: Self.settings)
            try await rig.run { agent in
                try await rig.waitForSync()
                try await limit(rig, agent)
                let sample = Fixture.heartRate(150, at: 0)
                await live(rig, [sample])
                try await rig.wait { if case .level(let level) = $0 { level.isActive } else { false } }
                rig.change { $0.history[.heartRate] = [sample] }
                let sync = try await rig.ask(.sync(metrics: [.heartRate], from: nil, to: nil), "s", of: agent)
                #expect(sync.brought == [0, 1])
            }
            #expect(rig.store.facts.map(\.lane) == [.alert, .live])
        }
    }

    @Test func `a device that is not worn raises nothing until it is worn again`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, policy: Self.settings)
            try await rig.run { agent in
                try await rig.waitForSync()
                try await limit(rig, agent)
                await rig.session?.send(
                    .wear(isWorn: false), .samples([Fixture.heartRate(150, at: 0)], receipts: []), .wear(isWorn: true),
                    .samples([Fixture.heartRate(151, at: 1)], receipts: []))
                try await rig.wait { if case .level(let level) = $0 { level.isActive } else { false } }
            }
            let alerts = rig.store.facts.compactMap {
                if case .alert(let event, _) = $0.content { event.value } else { nil }
            }
            #expect(alerts == [151])
        }
    }

    @Test func `what is measured on demand counts, whatever the device said of being worn`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let readings = [(after: Duration.seconds(1), reading: Reading.value(150))]
            let rig = AgentRig(
                environment, content: .init(measurements: [.heartRate: .init(readings: readings)]),
                policy: Self.settings)
            try await rig.run { agent in
                try await rig.waitForSync()
                try await limit(rig, agent)
                await rig.session?.send(.wear(isWorn: false), .battery(percent: 80, isCharging: nil))
                try await rig.wait { if case .info(let info) = $0 { info.features.contains(.battery) } else { false } }
                _ = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "m", of: agent)
            }
            #expect(rig.levels.last?.isActive == true)
        }
    }

    @Test func `of what a device does not have samples are kept, and alerts ignored`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                func alert(_ rule: AlertRule) -> DeviceEvent {
                    .alert(DeviceAlert(rule: rule, edge: .raised, value: 90, at: Fixture.noon))
                }
                await rig.session?.send(
                    .samples([Fixture.sample(.stress, 90, at: 0)], receipts: []), alert(AlertRule(.stress, .high)),
                    alert(AlertRule(.bloodOxygen, .low)))
                try await rig.wait { if case .level(let level) = $0 { level.isActive } else { false } }
            }
            #expect(try await rig.store.samples(of: Fixture.device).map(\.sample.metric) == [.stress])
            #expect(rig.levels.filter(\.isActive).map(\.rule) == [AlertRule(.bloodOxygen, .low)])
        }
    }

    @Test func `an alert by a clock that is ahead happened when it was heard of`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                let alert = DeviceAlert(
                    rule: AlertRule(.bloodOxygen, .low), edge: .raised, value: 80, at: Fixture.noon + .days(3))
                await rig.session?.send(.alert(alert))
                try await rig.wait { if case .level(let level) = $0 { level.isActive } else { false } }
            }
            let events = rig.store.facts.compactMap { fact -> AlertEvent? in
                if case .alert(let event, isLate: false) = fact.content { event } else { nil }
            }
            #expect(events.count == 1)
            #expect(try #require(events.first).measuredAt < Fixture.minute(1))
        }
    }

    @Test func `the battery becomes a metric with its first notification`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await rig.session?.send(.battery(percent: 80, isCharging: nil), .battery(percent: 500, isCharging: nil))
                try await rig.wait { if case .info(let info) = $0 { info.features.contains(.battery) } else { false } }
            }
            #expect(try await rig.store.record(of: Fixture.device).features.contains(.battery))
            #expect(try await rig.store.samples(of: Fixture.device).map(\.sample.reading) == [.value(80)])
            let gaps = rig.store.facts.compactMap { if case .gap(let gap) = $0.content { gap } else { nil } }
            #expect(gaps.map(\.metric) == [.battery] && gaps.map(\.refused) == [[.outOfRange: 1]])
        }
    }

    @Test func `a day ends at midnight with a fact, and the next begins at zero with what came early`() throws {
        let evening = Timestamp(seconds: 1_795_305_300)  // 23:55
        try AgentRig.everyOrder(0..<10, start: evening) { environment in
            let rig = AgentRig(environment)
            @Sendable func steps(_ count: Int, after minutes: Int) -> Sample {
                Sample(metric: .steps, start: evening + .minutes(minutes), reading: .steps(Steps(count: count)))
            }
            let day = Fixture.utc.day(of: evening)
            try await rig.run { _ in
                try await rig.waitForSync()
                await live(rig, [steps(100, after: 0)])
                try await environment.gatewayClock.sleep(for: .minutes(1))
                // The device's clock is slightly ahead: the steps count for the next day.
                await live(rig, [steps(7, after: 5)])
                try await rig.wait { state in
                    if case .today(let record) = state {
                        record.summary.day > day && record.summary.count == 1
                    } else {
                        false
                    }
                }
                #expect(environment.uptime < .minutes(5) + .seconds(15))
                // A late sample reopens the day.
                await live(rig, [steps(11, after: -1)])
                try await environment.gatewayClock.sleep(for: .minutes(1))
            }
            let days = rig.store.facts.compactMap { if case .day(let record) = $0.content { record } else { nil } }
            #expect(days.map(\.summary.day) == [day, day])
            #expect(days.map(\.revision) == [1, 2])
            #expect(days.map(\.summary.count) == [1, 2])
        }
    }

    @Test func `the running day is that of today, also after days without samples and without a gateway`() throws {
        try AgentRig.everyOrder(0..<2, deadline: .days(9)) { environment in
            let rig = AgentRig(environment)
            try await rig.run { _ in
                try await rig.waitForSync()
                await live(rig, [Fixture.steps(100, at: -20)])
                try await rig.wait { $0.part == .today(.steps) }
                try await environment.gatewayClock.sleep(for: .hours(38))
            }
            #expect(Self.today(rig)?.day == Fixture.utc.day(of: Fixture.noon).advanced(by: 2))
            try await environment.gatewayClock.sleep(for: .days(3))
            try await rig.run { _ in try await rig.waitForSync(after: rig.count) }
            #expect(Self.today(rig)?.day == Fixture.utc.day(of: Fixture.noon).advanced(by: 5))
            #expect(Self.today(rig)?.count == 0)
        }
    }

    private static func today(_ rig: AgentRig) -> DailySummary? {
        rig.states.reversed().lazy.compactMap { if case .today(let record) = $0 { record.summary } else { nil } }.first
    }

    @Test func `after a restart everything is where it was`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, policy: Self.settings)
            try await rig.run { agent in
                try await rig.waitForSync()
                await live(rig, [Fixture.heartRate(60, at: 0), Fixture.steps(10, at: -20)])
                try await rig.wait { $0.part == .latest(.steps) }
            }
            let second = AgentRig(environment, policy: Self.settings, store: rig.store)
            second.open(.hang)
            try await second.run { _ in
                try await second.wait { $0 == .availability(isOnline: true) }
                try await second.wait { $0.part == .latest(.heartRate) }
                try await second.wait { state in
                    if case .today(let record) = state, record.summary.metric == .steps {
                        record.summary.count == 1
                    } else {
                        false
                    }
                }
            }
        }
    }
}
