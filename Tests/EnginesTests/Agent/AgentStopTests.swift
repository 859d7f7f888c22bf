import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// Stopping measurements, and reporting failed readings.
@Suite struct AgentStopTests {
    @Test func `a stop is answered when the device has stopped, and a start right after it is not busy`() throws {
        try AgentRig.synced(
            content: .heartRates(), given: { $0.behave(.delay(.seconds(7)), on: .stopMeasurement) }
        ) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .minutes(10)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            let begun = rig.uptime
            #expect(try await rig.ask(.stopMeasuring(nil), "s", of: agent).status == .done)
            #expect(rig.uptime - begun >= .seconds(7))
            let again = try await rig.ask(.measure(.heartRate, duration: .seconds(10)), "n", of: agent)
            #expect(again.status == .done, "\(again)")
            #expect(try await rig.answer("m").status == .done)
        }
    }

    @Test func `a stop that the device refuses has failed with its reason, and the measurement goes on`() throws {
        try AgentRig.synced(
            0..<10, content: .heartRates(),
            given: { $0.behave(.fail(DeviceError(.failure, "It is stuck.")), on: .stopMeasurement) }
        ) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            let answer = try await rig.ask(.stopMeasuring(.heartRate), "s", of: agent)
            #expect((answer.status, answer.code, answer.message) == (.failed, .deviceError, "It is stuck."))
            #expect(try await rig.answer("m").status == .done)
            #expect(try await rig.ask(.stopMeasuring(nil), "t", of: agent).status == .done)
        }
    }

    @Test func `a stop of a device that is lost meanwhile has failed`() throws {
        try AgentRig.synced(
            0..<10, content: .heartRates(), given: { $0.behave(.hang, on: .stopMeasurement) }
        ) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .minutes(10)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            #expect(try await rig.ask(.stopMeasuring(nil), "s", of: agent).code == .offline)
            #expect(try await rig.answer("m").code == .offline)
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
        try AgentRig.synced(0..<10, content: .heartRates([])) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            await say(rig) { .readingFailed($0, DeviceError(.notWorn, "Put it on.")) }
            try await rig.wait { $0.asMeasure.map { $0.phase == .measuring && $0.error == "Put it on." } == true }
            await say(rig) { .measurementSample($0, Fixture.heartRate(900, at: 0)) }
            try await rig.wait { $0.asMeasure?.refused == 1 }
            let answer = try await rig.answer("m")
            #expect((answer.status, answer.code, answer.message) == (.failed, .notWorn, "Put it on."))
        } then: { rig in
            let holds = try await rig.store.samples(of: Fixture.device).isEmpty
            #expect(holds)
        }
    }

    @Test func `what a command measured is user-initiated, whatever the device says and remembers`() throws {
        try AgentRig.synced(0..<10, content: .heartRates([])) { rig, agent in
            await rig.submit(.measure(.heartRate, duration: .seconds(30)), "m", to: agent)
            try await rig.wait { $0.asMeasure?.phase == .measuring }
            let sample = Sample(metric: .heartRate, start: rig.environment.date, reading: .value(71))
            await say(rig) { .measurementSample($0, sample) }
            #expect(try await rig.answer("m").status == .done)
            #expect(try await rig.store.samples(of: Fixture.device).map(\.sample.isUserInitiated) == [true])
            // The device's history has the sample as an automatic one.
            rig.change { $0.history[.heartRate] = [sample, Fixture.heartRate(60, at: -1)] }
            let sync = try await rig.ask(.sync(metrics: [.heartRate], from: nil, to: nil), "s", of: agent)
            #expect(sync.brought == [1, 1])
        } then: { rig in
            let value = try await rig.store.samples(of: Fixture.device).count
            #expect(value == 2)
        }
    }
}
