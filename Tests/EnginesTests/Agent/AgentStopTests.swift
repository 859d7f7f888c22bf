import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Stopping measurements, and reporting failed readings.
@Suite struct AgentStopTests {
    private static func content(_ values: [Double] = [70, 72, 74]) -> ScriptedSession.Content {
        .init(measurements: [
            .heartRate: .init(
                readings: values.enumerated().map { (after: .seconds(5 * ($0 + 1)), reading: .value($1)) })
        ])
    }

    private func waitForMeasuring(_ rig: AgentRig, after count: Int = 0) async throws {
        try await rig.wait(after: count) {
            if case .measure(let state) = $0 { state.phase == .measuring } else { false }
        }
    }

    @Test func `a stop is answered when the device has stopped, and a start right after it is not busy`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment, content: Self.content())
            rig.behave { if case .stopMeasurement = $0 { .delay(.seconds(7)) } else { .answer } }
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .minutes(10)), "m", to: agent)
                try await waitForMeasuring(rig)
                let begun = environment.uptime
                #expect(try await rig.ask(.stopMeasuring(nil), "s", of: agent).status == .done)
                #expect(environment.uptime - begun >= .seconds(7))
                let again = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "n", of: agent)
                #expect(again.status == .done, "\(again)")
                #expect(try await rig.answer("m").status == .done)
            }
        }
    }

    @Test func `a stop that the device refuses has failed with its reason, and the measurement goes on`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content())
            rig.behave { call in
                if case .stopMeasurement = call { .fail(DeviceError(.failure, "It is stuck.")) } else { .answer }
            }
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
                try await waitForMeasuring(rig)
                let answer = try await rig.ask(.stopMeasuring(.heartRate), "s", of: agent)
                #expect((answer.status, answer.code, answer.message) == (.failed, .deviceError, "It is stuck."))
                let end = try await rig.answer("m")
                #expect(end.status == .done)
                #expect(try await rig.ask(.stopMeasuring(nil), "t", of: agent).status == .done)
            }
        }
    }

    @Test func `a stop of a device that is lost meanwhile has failed`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content())
            rig.behave { if case .stopMeasurement = $0 { .hang } else { .answer } }
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .minutes(10)), "m", to: agent)
                try await waitForMeasuring(rig)
                #expect(try await rig.ask(.stopMeasuring(nil), "s", of: agent).code == .offline)
                #expect(try await rig.answer("m").code == .offline)
            }
        }
    }

    /// Sends events of the running measurement.
    private func say(_ rig: AgentRig, _ event: (MeasurementID) -> DeviceEvent) async {
        await rig.session?.send(event(MeasurementID("m1")))
    }

    @Test
    func `a reading that fails is reported while the measurement goes on, and one that cannot be true is counted`()
        throws
    {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content([]))
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
                try await waitForMeasuring(rig)
                await say(rig) { .readingFailed($0, DeviceError(.notWorn, "Put it on.")) }
                try await rig.wait {
                    if case .measure(let state) = $0 {
                        state.phase == .measuring && state.error == "Put it on."
                    } else {
                        false
                    }
                }
                await say(rig) { .measurementSample($0, Fixture.heartRate(900, at: 0)) }
                try await rig.wait { if case .measure(let state) = $0 { state.refused == 1 } else { false } }
                let answer = try await rig.answer("m")
                #expect((answer.status, answer.code, answer.message) == (.failed, .notWorn, "Put it on."))
            }
            #expect(try await rig.store.samples(of: Fixture.device).isEmpty)
        }
    }

    @Test func `what a command measured is user-initiated, whatever the device says and remembers`() throws {
        try AgentRig.everyOrder(0..<10) { environment in
            let rig = AgentRig(environment, content: Self.content([]))
            try await rig.run { agent in
                try await rig.waitForSync()
                await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
                try await waitForMeasuring(rig)
                let sample = Sample(metric: .heartRate, start: environment.date, reading: .value(71))
                await say(rig) { .measurementSample($0, sample) }
                #expect(try await rig.answer("m").status == .done)
                #expect(try await rig.store.samples(of: Fixture.device).map(\.sample.isUserInitiated) == [true])
                // The device's history has the sample as an automatic one.
                rig.change { $0.history[.heartRate] = [sample, Fixture.heartRate(60, at: -1)] }
                let sync = try await rig.ask(.sync(metrics: [.heartRate], from: nil, to: nil), "s", of: agent)
                #expect(sync.brought == [1, 1])
            }
            #expect(try await rig.store.samples(of: Fixture.device).count == 2)
        }
    }
}
