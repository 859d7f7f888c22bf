import Concurrency
import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentMeasurementTests {
    @Test func `a command's measurement is shown, kept and answered with its last value`() throws {
        try AgentRig.synced(content: .heartRates()) { rig, agent in
            let answer = try await rig.ask(.measure(.heartRate, duration: .seconds(30)), "m", of: agent)
            #expect(answer.status == .done)
            let stored = try #require(answer.asMeasurement, "\(answer)")
            #expect(stored.sample.reading == .value(74))
            #expect(stored.sample.isUserInitiated == true)
        } then: { rig in
            #expect(
                rig.states.compactMap { $0.asMeasure?.phase } == [
                    .idle, .starting, .measuring, .measuring, .measuring, .measuring, .ended,
                ])
            let answers = rig.events.elements.compactMap {
                if case .answer("m", let answer) = $0 { answer.status } else { nil }
            }
            #expect(answers == [.accepted, .done])
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 3)
            let sources = rig.store.facts.map { fact in
                if case .measurement(let measurement) = fact.content { measurement.source } else { SampleSource.replay }
            }
            #expect(sources == [.measure, .measure, .measure])
        }
    }

    @Test func `a blood pressure is shown and kept once, at its end`() throws {
        let pressure = Reading.bloodPressure(BloodPressure(systolic: 124, diastolic: 81, pulse: 66))
        try AgentRig.synced(
            0..<5, capabilities: Capabilities([.bloodPressure: [.measure]]),
            content: .init(measurements: [
                .bloodPressure: .init(readings: [(after: .seconds(40), reading: pressure)], end: (.seconds(41), nil))
            ])
        ) { rig, agent in
            let answer = try await rig.ask(.measure(.bloodPressure, duration: .seconds(60)), "m", of: agent)
            #expect(answer.status == .done)
            let stored = try #require(answer.asMeasurement, "\(answer)")
            #expect(stored.sample.reading == pressure)
        } then: { rig in
            let shown = rig.states.compactMap(\.asMeasure)
            #expect(shown.map(\.phase) == [.idle, .starting, .measuring, .measuring, .ended])
            #expect(shown.map(\.newest?.reading) == [nil, nil, nil, pressure, pressure])
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 1)
        }
    }

    @Test func `a second one is busy, and a stop ends the first at once`() throws {
        try AgentRig.synced(content: .heartRates()) { rig, agent in
            let begun = rig.uptime
            await rig.submit(.measure(.heartRate, duration: .minutes(10)), "m", to: agent)
            await rig.submit(.measure(.heartRate, duration: .minutes(10)), "n", to: agent)
            await rig.submit(.stopMeasuring(.heartRate), "s", to: agent)
            let value = try await rig.answer("n").code
            #expect(value == .busy)
            #expect(try await rig.answer("s").status == .done)
            #expect(try await rig.answer("m").status == .done)
            #expect(rig.uptime - begun < .seconds(10))
        }
    }

    @Test func `one whose end is never said fails after its time`() throws {
        try AgentRig.synced(
            0..<5, content: .init(measurements: [.heartRate: .init(readings: [], end: (.hours(1), nil))]),
            given: { $0.behave(.delay(.seconds(50)), on: .startMeasurement) }
        ) { rig, agent in
            let begun = rig.uptime
            rig.environment.jumpDate(by: .days(1))
            let value = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "m", of: agent).code
            #expect(value == .timeout)
            #expect(rig.uptime - begun >= .seconds(90) && rig.uptime - begun < .seconds(100))
        }
    }

    @Test func `one that is overdue is stopped before the one that waits for it is started`() throws {
        try AgentRig.synced(
            0..<30, capabilities: Capabilities([.heartRate: [.measure, .history], .stress: [.measure, .history]]),
            content: .init(measurements: [
                .heartRate: .init(readings: [], end: (.hours(1), nil)),
                .stress: .init(readings: [(after: .seconds(1), reading: .value(20))]),
            ])
        ) { rig, agent in
            _ = try await rig.ask(Self.schedule(5, .heartRate), "c", of: agent)
            let isHanging = Promise<Void>()
            rig.behave { call in
                if case .stopMeasurement = call, isHanging.value == nil {
                    isHanging.fulfil(())
                    return .fail(DeviceError(.failure, "Once."))
                }
                return .answer
            }
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            let answer = try await rig.ask(.measure(.stress, duration: .seconds(5)), "m", of: agent)
            #expect(answer.status == .done, "\(answer)")
        } then: { rig in
            let calls = rig.calls.compactMap { call -> String? in
                switch call {
                case .startMeasurement(let metric, _): "start \(metric.rawValue)"
                case .stopMeasurement: "stop"
                default: nil
                }
            }
            #expect(calls.prefix(4) == ["start heart_rate", "stop", "stop", "start stress"])
        }
    }

    @Test func `the device's reason is the answer`() throws {
        let off = DeviceError(.notWorn, "Put it on.")
        try AgentRig.synced(
            0..<5, content: .init(measurements: [.heartRate: .init(readings: [], end: (.seconds(3), off))])
        ) { rig, agent in
            let answer = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "m", of: agent)
            #expect(answer.code == .notWorn)
            #expect(answer.message == "Put it on.")
            rig.behave(.fail(DeviceError(.busy, "Later.")), on: .startMeasurement)
            #expect(try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "n", of: agent).code == .busy)
        }
    }

    @Test func `a device that is lost in the middle answers offline with what it had measured, and the next one runs`()
        throws
    {
        try AgentRig.synced(0..<10, content: .heartRates()) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.newest?.reading == .value(72) }
            let count = rig.count
            rig.session?.disconnect()
            let lost = try await rig.answer("m")
            #expect(lost.status == .failed)
            #expect(lost.code == .offline)
            let stored = try #require(lost.asMeasurement, "\(lost)")
            #expect(stored.sample.reading == .value(72))
            try await rig.wait(after: count) { $0.asMeasure.map { $0.phase == .failed && $0.error != nil } == true }
            try await rig.waitForSync(after: count)
            #expect(try await rig.ask(.measure(.heartRate, duration: .seconds(30)), "n", of: agent).status == .done)
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 5)
        }
    }

    @Test func `live samples are not held up by a device that takes its time to begin`() throws {
        try AgentRig.synced(
            0..<5, content: .heartRates(), given: { $0.behave(.delay(.seconds(40)), on: .startMeasurement) }
        ) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .seconds(10)), "m", to: agent)
            let count = rig.count
            await rig.session?.send(.samples([Fixture.steps(10, at: -10)], receipts: []))
            try await rig.wait(after: count) { $0.part == .latest(.steps) }
            #expect(rig.uptime < .seconds(30))
            _ = try await rig.answer("m")
        }
    }

    private static func schedule(_ interval: Int, _ metrics: Metric...) -> DeviceCommand {
        var settings = MonitorSettings()
        for metric in metrics {
            settings.set(
                MonitorConfiguration.fixture(
                    of: metric, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: interval)))
        }
        return .configure(MonitorPatch(settings.values), ifVersion: nil, adopts: false)
    }

    @Test func `measures by the schedule what the device does not monitor, and knows it again in a sync`() throws {
        try AgentRig.synced(0..<10, content: .heartRates()) { rig, agent in
            #expect(try await rig.ask(Self.schedule(10, .heartRate), "c", of: agent).status == .done)
            try await rig.sleep(for: .minutes(31))
            let taken = try await rig.store.samples(of: Fixture.device)
            #expect(taken.count == 12)
            #expect(taken.allSatisfy { !$0.sample.isUserInitiated })
            // The device's history marks them as user-initiated.
            rig.change { content in
                content.history[.heartRate] = taken.map {
                    var sample = $0.sample
                    sample.isUserInitiated = true
                    return sample
                }
            }
            let answer = try await rig.ask(.sync(metrics: [.heartRate], from: nil, to: nil), "s", of: agent)
            #expect(answer.brought == [0, 12])
        }
    }

    @Test func `metrics that are due at the same time are measured one after the other`() throws {
        let capabilities = Capabilities([.heartRate: [.measure], .stress: [.measure], .bloodOxygen: [.measure]])
        try AgentRig.synced(0..<10, capabilities: capabilities) { rig, agent in
            _ = try await rig.ask(Self.schedule(30, .heartRate, .stress, .bloodOxygen), "c", of: agent)
            try await rig.sleep(for: .minutes(34))
        } then: { rig in
            let begun = rig.calls.compactMap(\.asStart)
            #expect(begun == [.heartRate, .bloodOxygen, .stress, .heartRate, .bloodOxygen, .stress])
        }
    }

    @Test func `a command interrupts the gateway's own measurement`() throws {
        try AgentRig.synced(0..<10, content: .heartRates()) { rig, agent in
            _ = try await rig.ask(Self.schedule(30, .heartRate), "c", of: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            let begun = rig.uptime
            #expect(try await rig.ask(.measure(.heartRate, duration: .seconds(20)), "m", of: agent).status == .done)
            #expect(rig.uptime - begun < .seconds(30))
        } then: { rig in
            #expect(rig.calls.contains { $0.kind == .stopMeasurement })
        }
    }
}
