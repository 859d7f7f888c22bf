import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Performs what the measurement engine decides.
    func perform(_ actions: [MeasurementMachine.Action]) async {
        var actions = actions
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .publish(let state): publish(.measure(state))
            case .answer(let key, let answer): await output.answer(key, answer)
            case .start(let metric, let duration):
                let event = await begin(metric, duration)
                actions += measurement.handle(event, at: clock.now)
            case .stop(let measurementID): await stop(measurementID)
            case .await: break  // `keepTime` asks with each tick.
            }
        }
    }

    private func begin(_ metric: Metric, _ duration: Duration) async -> MeasurementMachine.Event {
        do {
            let measurementID = try await onSession { device throws(DeviceError) in
                try await self.call("measurement/start", DeviceTimeouts.measurementStart) {
                    () async throws(DeviceError) in
                    try await device.startMeasurement(of: metric, duration: duration)
                }
            }
            return .started(measurementID)
        } catch {
            return .refused(error)
        }
    }

    private func stop(_ measurementID: MeasurementID) async {
        do {
            try await onSession { device throws(DeviceError) in
                try await self.call("measurement/stop", DeviceTimeouts.call) { () async throws(DeviceError) in
                    try await device.stopMeasurement(measurementID)
                }
            }
        } catch {
            logger.warning("The measurement cannot be stopped.", metadata: ["error": "\(error)"])
        }
    }

    /// Keeps a sample of the measurement that runs. One that the gateway's schedule wanted is automatic.
    func measured(_ sample: Sample, by measurementID: MeasurementID) async throws {
        var sample = sample
        if measurement.isScheduled { sample.isUserInitiated = false }
        guard sample.isValid, sample.end <= clock.now + SyncPolicy.futureTolerance else {
            malformed += 1
            return
        }
        let source: SampleSource = measurement.isScheduled ? .live : .measure
        try await take([sample], source: source, isUrgent: true)
        let stored = ledger.latest[sample.metric].flatMap { $0.sample == sample ? $0 : nil }
        let kept =
            stored
            ?? StoredSample(
                sample: sample, id: SampleID(device: id, sample: sample), revision: 1, receivedAt: clock.now)
        await perform(measurement.handle(.sample(measurementID, kept), at: clock.now))
    }
}
