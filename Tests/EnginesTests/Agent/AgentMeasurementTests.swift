import Concurrency
import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentMeasurementTests {
    private static func content(_ values: [Double] = [70, 72, 74]) -> ScriptedSession.Content {
        .init(measurements: [
            .heartRate: .init(
                readings: values.enumerated().map { (after: .seconds(5 * ($0 + 1)), reading: .value($1)) })
        ])
    }

    private func phases(_ rig: AgentRig) -> [MeasureState.Phase] {
        rig.states.compactMap { if case .measure(let state) = $0 { state.phase } else { nil } }
    }

    @Test func `a command's measurement is shown, kept and answered with its last value`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment, content: Self.content())
            try await rig.run { agent in
                try await rig.waitForSync()
                let answer = try await rig.ask(.measure(.heartRate, duration: .seconds(30)), "m", of: agent)
                #expect(answer.status == .done)
                guard case .measurement(let stored) = answer.data else {
                    Issue.record("\(answer)")
                    return
                }
                #expect(stored?.sample.reading == .value(74))
                #expect(stored?.sample.isUserInitiated == true)
            }
            #expect(phases(rig) == [.idle, .starting, .measuring, .measuring, .measuring, .measuring, .ended])
            let answers = rig.events.elements.compactMap {
                if case .answer("m", let answer) = $0 { answer.status } else { nil }
            }
            #expect(answers == [.accepted, .done])
            #expect(try await rig.store.samples(of: Fixture.device).count == 3)
            let sources = rig.store.facts.map { fact in
                if case .measurement(let measurement) = fact.content { measurement.source } else { SampleSource.replay }
            }
            #expect(sources == [.measure, .measure, .measure])
        }
    }

    @Test func `a blood pressure is shown and kept once, at its end`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let pressure = Reading.bloodPressure(BloodPressure(systolic: 124, diastolic: 81, pulse: 66))
            let rig = AgentRig(
                environment, capabilities: Capabilities([.bloodPressure: [.measure]]),
                content: .init(measurements: [
                    .bloodPressure: .init(
                        readings: [(after: .seconds(40), reading: pressure)], end: (.seconds(41), nil))
                ]))
            try await rig.run { agent in
                try await rig.waitForSync()
                let answer = try await rig.ask(.measure(.bloodPressure, duration: .seconds(60)), "m", of: agent)
                #expect(answer.status == .done)
                guard case .measurement(let stored) = answer.data else {
                    Issue.record("\(answer)")
                    return
                }
                #expect(stored?.sample.reading == pressure)
            }
            let shown = rig.states.compactMap { if case .measure(let state) = $0 { state } else { nil } }
            #expect(shown.map(\.phase) == [.idle, .starting, .measuring, .measuring, .ended])
            #expect(shown.map(\.newest?.reading) == [nil, nil, nil, pressure, pressure])
            #expect(try await rig.store.samples(of: Fixture.device).count == 1)
        }
    }

    @Test func `a second one is busy, and a stop ends the first at once`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment, content: Self.content())
            try await rig.run { agent in
                try await rig.waitForSync()
                let begun = environment.uptime
                await rig.submit(.measure(.heartRate, duration: .minutes(10)), "m", to: agent)
                await rig.submit(.measure(.heartRate, duration: .minutes(10)), "n", to: agent)
                await rig.submit(.stopMeasuring(.heartRate), "s", to: agent)
                #expect(try await rig.answer("n").code == .busy)
                #expect(try await rig.answer("s").status == .done)
                #expect(try await rig.answer("m").status == .done)
                #expect(environment.uptime - begun < .seconds(10))
            }
        }
    }

    @Test func `one whose end is never said fails after its time`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(
                environment, content: .init(measurements: [.heartRate: .init(readings: [], end: (.hours(1), nil))]))
            rig.behave { if case .startMeasurement = $0 { .delay(.seconds(50)) } else { .answer } }
            try await rig.run { agent in
                try await rig.waitForSync()
                let begun = environment.uptime
                environment.jumpDate(by: .days(1))
                let answer = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "m", of: agent)
                #expect(answer.code == .timeout)
                #expect(environment.uptime - begun >= .seconds(90) && environment.uptime - begun < .seconds(100))
            }
        }
    }

    @Test func `one that is overdue is stopped before the one that waits for it is started`() throws {
        try AgentRig.everyOrder(0..<30) { environment in
            let rig = AgentRig(
                environment,
                capabilities: Capabilities([.heartRate: [.measure, .history], .stress: [.measure, .history]]),
                content: .init(measurements: [
                    .heartRate: .init(readings: [], end: (.hours(1), nil)),
                    .stress: .init(readings: [(after: .seconds(1), reading: .value(20))]),
                ]))
            try await rig.run { agent in
                try await rig.waitForSync()
                var settings = MonitorSettings()
                settings.set(
                    MonitorConfiguration.fixture(
                        of: .heartRate, schedule: MonitorSchedule(isEnabled: true, start: 0, end: 1440, interval: 5)))
                _ = try await rig.ask(
                    .configure(MonitorPatch(settings.values), ifVersion: nil, adopts: false), "c", of: agent)
                let isHanging = Promise<Void>()
                rig.behave { call in
                    if case .stopMeasurement = call, isHanging.value == nil {
                        isHanging.fulfil(())
                        return .fail(DeviceError(.failure, "Once."))
                    }
                    return .answer
                }
                try await rig.wait { if case .measure(let state) = $0 { state.phase == .measuring } else { false } }
                let answer = try await rig.ask(.measure(.stress, duration: .seconds(5)), "m", of: agent)
                #expect(answer.status == .done, "\(answer)")
            }
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
        try AgentRig.everyOrder(0..<5) { environment in
            let off = DeviceError(.notWorn, "Put it on.")
            let rig = AgentRig(
                environment, content: .init(measurements: [.heartRate: .init(readings: [], end: (.seconds(3), off))]))
            try await rig.run { agent in
                try await rig.waitForSync()
                let answer = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "m", of: agent)
                #expect(answer.code == .notWorn)
                #expect(answer.message == "Put it on.")
                rig.behave { if case .startMeasurement = $0 { .fail(DeviceError(.busy, "Later.")) } else { .answer } }
                #expect(try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "n", of: agent).code == .busy)
            }
        }
    }

    @Test func `a device that is lost in the middle answers offline with what it had measured, and the next one runs`()
        throws
    {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content())
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
                try await rig.wait {
                    if case .measure(let state) = $0 { state.newest?.reading == .value(72) } else { false }
                }
                let count = rig.count
                rig.session?.disconnect()
                let lost = try await rig.answer("m")
                #expect(lost.status == .failed)
                #expect(lost.code == .offline)
                guard case .measurement(let stored) = lost.data else {
                    Issue.record("\(lost)")
                    return
                }
                #expect(stored?.sample.reading == .value(72))
                try await rig.wait(after: count) {
                    if case .measure(let state) = $0 { state.phase == .failed && state.error != nil } else { false }
                }
                try await rig.waitForSync(after: count)
                let again = try await rig.ask(.measure(.heartRate, duration: .seconds(30)), "n", of: agent)
                #expect(again.status == .done)
            }
            #expect(try await rig.store.samples(of: Fixture.device).count == 5)
        }
    }

    @Test func `live samples are not held up by a device that takes its time to begin`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment, content: Self.content())
            rig.behave { if case .startMeasurement = $0 { .delay(.seconds(40)) } else { .answer } }
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .seconds(10)), "m", to: agent)
                let count = rig.count
                await rig.session?.send(.samples([Fixture.steps(10, at: -10)], receipts: []))
                try await rig.wait(after: count) { $0.part == .latest(.steps) }
                #expect(environment.uptime < .seconds(30))
                _ = try await rig.answer("m")
            }
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
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content())
            try await rig.run { agent in
                try await rig.waitForSync()
                #expect(try await rig.ask(Self.schedule(10, .heartRate), "c", of: agent).status == .done)
                try await environment.gatewayClock.sleep(for: .minutes(31))
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
    }

    @Test func `metrics that are due at the same time are measured one after the other`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let capabilities = Capabilities([.heartRate: [.measure], .stress: [.measure], .bloodOxygen: [.measure]])
            let rig = AgentRig(environment, capabilities: capabilities)
            try await rig.run { agent in
                try await rig.waitForSync()
                _ = try await rig.ask(Self.schedule(30, .heartRate, .stress, .bloodOxygen), "c", of: agent)
                try await environment.gatewayClock.sleep(for: .minutes(34))
            }
            let begun = rig.calls.compactMap { if case .startMeasurement(let metric, _) = $0 { metric } else { nil } }
            #expect(begun == [.heartRate, .bloodOxygen, .stress, .heartRate, .bloodOxygen, .stress])
        }
    }

    @Test func `a command interrupts the gateway's own measurement`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content())
            try await rig.run { agent in
                try await rig.waitForSync()
                _ = try await rig.ask(Self.schedule(30, .heartRate), "c", of: agent)
                try await rig.wait { if case .measure(let state) = $0 { state.phase == .measuring } else { false } }
                let begun = environment.uptime
                let answer = try await rig.ask(.measure(.heartRate, duration: .seconds(20)), "m", of: agent)
                #expect(answer.status == .done)
                #expect(environment.uptime - begun < .seconds(30))
            }
            #expect(rig.calls.contains { if case .stopMeasurement = $0 { true } else { false } })
        }
    }
}
