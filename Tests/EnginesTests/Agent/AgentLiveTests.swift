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

    @Test func `the device hears what is durable, after the commit, and what is refused`() throws {
        try AgentRig.synced { rig, _ in
            let future = Fixture.heartRate(60, at: 60)
            await live(
                rig, [Fixture.heartRate(60, at: 0), Fixture.heartRate(500, at: 0), future],
                receipts: ["a", "b", "c"])
            try await rig.wait { $0.part == .latest(.heartRate) }
            while rig.calls.allSatisfy({ $0.kind != .settle }) {
                try await rig.sleep(for: .milliseconds(1))
            }
        } then: { rig in
            guard
                case .settle(let receipts, let outcomes) = rig.calls.first(where: { $0.kind == .settle })
            else { return }
            #expect(receipts.map(\.mark) == ["a", "b", "c"])
            let refusals = outcomes.map { outcome -> DeviceError.Code? in
                if case .refused(let error) = outcome { error.code } else { nil }
            }
            #expect(refusals == [nil, .invalid, .invalid])
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 1)
        }
    }

    @Test func `samples wait for a full disk, and the device is neither informed nor lost`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            await live(rig, [Fixture.heartRate(60, at: 0)], receipts: ["a"])
            let alert = DeviceAlert(rule: Fixture.restingHigh, edge: .raised, value: 130, at: Fixture.noon)
            await rig.session?.send(.alert(alert))
            try await rig.sleep(for: .minutes(3))
            #expect(!rig.calls.contains { $0.kind == .settle })
            #expect(!rig.states.contains { $0.asLink?.phase == .waiting })
            rig.store.fail(nil)
            try await rig.wait { $0.asLevel?.isActive == true }
            #expect(rig.calls.contains { $0.kind == .settle })
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 1)
            #expect(rig.store.facts.map(\.lane) == [.live, .alert])
        }
    }

    @Test func `the latest goes stale on time, once, and comes back with the next sample`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            await live(rig, [Fixture.heartRate(60, at: 0)])
            try await rig.wait { $0.asLatest?.isStale == true }
            #expect(rig.uptime >= .minutes(30) && rig.uptime < .minutes(30) + .milliseconds(20))
            try await rig.sleep(for: .minutes(10))
            await live(rig, [Fixture.heartRate(61, at: 40)])
            try await rig.wait { $0.asLatest?.stored.sample.reading == .value(61) }
        } then: { rig in
            #expect(rig.latest.map(\.isStale) == [false, true, false])
        }
    }

    @Test func `late live samples do not move the latest`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            await live(rig, [Fixture.heartRate(60, at: 0)])
            try await rig.wait { $0.part == .latest(.heartRate) }
            await live(rig, [Fixture.heartRate(90, at: -5), Fixture.heartRate(61, at: 1)])
            try await rig.wait { $0.asLatest?.stored.sample.start == Fixture.minute(1) }
        } then: { rig in
            #expect(rig.latest.map(\.stored.sample.start) == [Fixture.noon, Fixture.minute(1)])
        }
    }

    @Test func `a live sample and its copy in the history are one`() throws {
        try AgentRig.synced(0..<10, policy: Self.settings) { rig, agent in
            try await rig.limitRestingRate(of: agent)
            let sample = Fixture.heartRate(150, at: 0)
            await live(rig, [sample])
            try await rig.wait { $0.asLevel?.isActive == true }
            rig.change { $0.history[.heartRate] = [sample] }
            let sync = try await rig.ask(.sync(metrics: [.heartRate], from: nil, to: nil), "s", of: agent)
            #expect(sync.brought == [0, 1])
        } then: { rig in
            #expect(rig.store.facts.map(\.lane) == [.alert, .live])
        }
    }

    @Test func `a device that is not worn raises nothing until it is worn again`() throws {
        try AgentRig.synced(0..<10, policy: Self.settings) { rig, agent in
            try await rig.limitRestingRate(of: agent)
            await rig.session?.send(
                .wear(isWorn: false), .samples([Fixture.heartRate(150, at: 0)], receipts: []), .wear(isWorn: true),
                .samples([Fixture.heartRate(151, at: 1)], receipts: []))
            try await rig.wait { $0.asLevel?.isActive == true }
        } then: { rig in
            #expect(rig.store.facts.compactMap { $0.asAlert?.value } == [151])
        }
    }

    @Test func `what is measured on demand counts, whatever the device said of being worn`() throws {
        let readings = [(after: Duration.seconds(1), reading: Reading.value(150))]
        try AgentRig.synced(
            0..<10, content: .init(measurements: [.heartRate: .init(readings: readings)]),
            policy: Self.settings
        ) { rig, agent in
            try await rig.limitRestingRate(of: agent)
            await rig.session?.send(.wear(isWorn: false), .battery(percent: 80, isCharging: nil))
            try await rig.wait { $0.asInfo?.features.contains(.battery) == true }
            _ = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "m", of: agent)
        } then: { rig in
            #expect(rig.levels.last?.isActive == true)
        }
    }

    @Test func `of what a device does not have samples are kept, and alerts ignored`() throws {
        try AgentRig.synced(0..<10) { rig, _ in
            func alert(_ rule: AlertRule) -> DeviceEvent {
                .alert(DeviceAlert(rule: rule, edge: .raised, value: 90, at: Fixture.noon))
            }
            await rig.session?.send(
                .samples([Fixture.sample(.stress, 90, at: 0)], receipts: []), alert(AlertRule(.stress, .high)),
                alert(AlertRule(.bloodOxygen, .low)))
            try await rig.wait { $0.asLevel?.isActive == true }
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).map(\.sample.metric)
            #expect(value == [.stress])
            #expect(rig.levels.filter(\.isActive).map(\.rule) == [AlertRule(.bloodOxygen, .low)])
        }
    }

    @Test func `what a device recorded that it warned of is published once, and it hears what became of each`() throws {
        let capabilities = Capabilities([.heartRate: [.history, .warnings]])
        try AgentRig.synced(0..<10, capabilities: capabilities) { rig, _ in
            func warning(_ rule: AlertRule, _ at: Timestamp) -> DeviceAlert {
                DeviceAlert(rule: rule, edge: .raised, value: nil, at: at)
            }
            let irregular = AlertRule(.irregularRhythm)
            let all = [
                warning(irregular, Fixture.noon), warning(AlertRule(.fibrillation), Fixture.noon),
                warning(irregular, Fixture.noon + .days(3)), warning(Fixture.restingHigh, Fixture.noon),
                warning(irregular, Fixture.noon),
            ]
            let receipts = all.indices.map { SampleReceipt("\($0)") }
            await rig.session?.send(.warnings(all, receipts: receipts))
            // Vitals Link has no receipts for alerts.
            await rig.session?.send(.alert(warning(irregular, Fixture.noon)))
            await rig.session?.send(.warnings([all[1]], receipts: [SampleReceipt("again")]))
            while rig.calls.count(where: { $0.kind == .settle }) < 2 { try await rig.sleep(for: .milliseconds(1)) }
        } then: { rig in
            let outcomes = rig.calls.flatMap { call -> [SettledReceipt.Outcome] in
                if case .settle(_, let outcomes) = call { outcomes } else { [] }
            }
            let words = outcomes.map { outcome in
                switch outcome {
                case .new: "new"
                case .known: "known"
                case .refused: "refused"
                default: "\(outcome)"
                }
            }
            #expect(words == ["new", "new", "refused", "refused", "known", "known"])
            let published = rig.store.facts.compactMap { fact -> String? in
                if case .alert(let event, _) = fact.content { event.rule.name } else { nil }
            }
            #expect(published == ["heart_rhythm_irregular", "ecg_atrial_fibrillation"])
            #expect(rig.levels.allSatisfy { $0.rule.warning == nil })
        }
    }

    @Test func `a warning that the device does not declare is refused`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            let warning = DeviceAlert(rule: AlertRule(.fibrillation), edge: .raised, value: nil, at: Fixture.noon)
            await rig.session?.send(.warnings([warning], receipts: [SampleReceipt("a")]))
            while rig.calls.allSatisfy({ $0.kind != .settle }) { try await rig.sleep(for: .milliseconds(1)) }
        } then: { rig in
            guard case .settle(_, let outcomes) = rig.calls.first(where: { $0.kind == .settle }) else { return }
            #expect(outcomes.map { if case .refused = $0 { true } else { false } } == [true])
            #expect(rig.store.facts.isEmpty)
        }
    }

    @Test func `an alert by a clock that is ahead happened when it was heard of`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            let alert = DeviceAlert(
                rule: AlertRule(.bloodOxygen, .low), edge: .raised, value: 80, at: Fixture.noon + .days(3))
            await rig.session?.send(.alert(alert))
            try await rig.wait { $0.asLevel?.isActive == true }
        } then: { rig in
            let events = rig.store.facts.compactMap { fact -> AlertEvent? in
                if case .alert(let event, isLate: false) = fact.content { event } else { nil }
            }
            #expect(events.count == 1)
            let first = try #require(events.first)
            #expect(first.measuredAt < Fixture.minute(1))
        }
    }

    @Test func `an alert whose sender waits for its outcome keeps its time, and is refused in the future`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            let rule = AlertRule(.bloodOxygen, .low)
            let (tolerated, future) = (Fixture.minute(4), Fixture.noon + .days(3))
            let alerts = [(AlertEvent.Edge.raised, future), (.raised, tolerated), (.cleared, future)].map { edge, at in
                DeviceAlert(rule: rule, edge: edge, value: 80, at: at)
            }
            await rig.session?.send(.alerts(alerts, receipts: alerts.indices.map { SampleReceipt("\($0)") }))
            while rig.calls.allSatisfy({ $0.kind != .settle }) { try await rig.sleep(for: .milliseconds(1)) }
        } then: { rig in
            guard case .settle(_, let outcomes) = rig.calls.first(where: { $0.kind == .settle }) else { return }
            let refused = DeviceError(.invalid, "The alert lies in the future; set the device's clock.")
            #expect(outcomes == [.refused(refused), .new, .refused(refused)])
            let moments = rig.store.facts.compactMap { fact -> Timestamp? in
                if case .alert(let event, _) = fact.content { event.measuredAt } else { nil }
            }
            #expect(moments == [Fixture.minute(4)])
        }
    }

    @Test func `the battery becomes a metric with its first notification`() throws {
        try AgentRig.synced(0..<5) { rig, _ in
            await rig.session?.send(.battery(percent: 80, isCharging: nil), .battery(percent: 500, isCharging: nil))
            try await rig.wait { $0.asInfo?.features.contains(.battery) == true }
        } then: { rig in
            let holds = try await rig.store.record(of: Fixture.device).features.contains(.battery)
            #expect(holds)
            #expect(try await rig.store.samples(of: Fixture.device).map(\.sample.reading) == [.value(80)])
            let gaps = rig.gaps
            #expect(gaps.map(\.metric) == [.battery] && gaps.map(\.refused) == [[.outOfRange: 1]])
        }
    }

    @Test func `a day ends at midnight with a fact, and the next begins at zero with what came early`() throws {
        let evening = Timestamp(seconds: 1_795_305_300)  // 23:55
        @Sendable func steps(_ count: Int, after minutes: Int) -> Sample {
            Sample(metric: .steps, start: evening + .minutes(minutes), reading: .count(Increment(count: count)))
        }
        let day = Fixture.utc.day(of: evening)
        try AgentRig.synced(0..<10, start: evening) { rig, _ in
            await live(rig, [steps(100, after: 0)])
            try await rig.sleep(for: .minutes(1))
            // The device's clock is slightly ahead: the steps count for the next day.
            await live(rig, [steps(7, after: 5)])
            try await rig.wait { $0.asToday.map { $0.summary.day > day && $0.summary.count == 1 } == true }
            #expect(rig.uptime < .minutes(5) + .seconds(15))
            // A late sample reopens the day.
            await live(rig, [steps(11, after: -1)])
            try await rig.sleep(for: .minutes(1))
        } then: { rig in
            #expect(rig.days.map(\.summary.day) == [day, day])
            #expect(rig.days.map(\.revision) == [1, 2])
            #expect(rig.days.map(\.summary.count) == [1, 2])
        }
    }

    @Test func `the running day is that of today, also after days without samples and without a gateway`() throws {
        try AgentRig.synced(0..<2, deadline: .days(9)) { rig, _ in
            await live(rig, [Fixture.steps(100, at: -20)])
            try await rig.wait { $0.part == .today(.steps) }
            try await rig.sleep(for: .hours(38))
        } then: { rig in
            #expect(Self.today(rig)?.day == Fixture.utc.day(of: Fixture.noon).advanced(by: 2))
            try await rig.sleep(for: .days(3))
            try await rig.run { _ in try await rig.waitForSync(after: rig.count) }
            #expect(Self.today(rig)?.day == Fixture.utc.day(of: Fixture.noon).advanced(by: 5))
            #expect(Self.today(rig)?.count == 0)
        }
    }

    private static func today(_ rig: AgentRig) -> DailySummary? {
        rig.runningDays.last?.summary
    }

    @Test func `after a restart everything is where it was`() throws {
        try AgentRig.synced(0..<10, policy: Self.settings) { rig, agent in
            await live(rig, [Fixture.heartRate(60, at: 0), Fixture.steps(10, at: -20)])
            try await rig.wait { $0.part == .latest(.steps) }
        } then: { rig in
            let second = AgentRig(rig.environment, policy: Self.settings, store: rig.store)
            second.open(.hang)
            try await second.run { _ in
                try await second.wait { $0 == .availability(isOnline: true) }
                try await second.wait { $0.part == .latest(.heartRate) }
                try await second.wait {
                    $0.asToday.map { $0.summary.metric == .steps && $0.summary.count == 1 } == true
                }
            }
        }
    }
}
