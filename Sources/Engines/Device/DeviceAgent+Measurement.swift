import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Performs what the measurement engine decides. The device is asked in tasks of the session, so that who performs
    /// it, such as the receiver of the device's events, does not wait for the device.
    func perform(_ actions: [MeasurementMachine.Action]) async {
        var actions = actions
        var answers: [(key: String, answer: Answer)] = []
        var stops: [MeasurementID] = []
        while !actions.isEmpty {
            switch actions.removeFirst() {
            case .publish(let state): publish(.measure(state))
            // Given last: what is decided while an answer is written down must not come in between the others.
            case .answer(let key, let answer): answers.append((key, answer))
            case .start(let metric, let duration, let attempt):
                // The device takes one at a time: what is stopped for this one is stopped first.
                let before = stops
                let work = SessionWork(
                    run: { device in
                        for id in before { await self.stop(id, on: device) }
                        await self.begin(metric, duration, attempt, on: device)
                    }, abandon: {})
                if let error = hand(over: work) {
                    actions += measurement.handle(.refused(error, attempt: attempt), at: clock.now)
                } else {
                    stops = []
                }
            case .stop(let measurementID): stops.append(measurementID)
            case .await(let duration, let attempt): measurementDeadline = (clock.uptime + duration, attempt)
            }
        }
        for id in stops {
            let work = SessionWork(run: { device in await self.stop(id, on: device) }, abandon: {})
            if let error = hand(over: work) {
                logger.warning("The measurement cannot be stopped.", metadata: ["error": "\(error)"])
            }
        }
        for (key, answer) in answers { await self.answer(key, answer) }
    }

    /// Starts a measurement for a command, and says so before anything else is said of it.
    func measure(_ metric: Metric, _ duration: Duration, for key: String) async {
        if !measurement.isBusy { await answer(key, Answer(.accepted)) }
        await perform(measurement.handle(.start(metric, duration: duration, origin: .command(key)), at: clock.now))
    }

    private func begin(
        _ metric: Metric, _ duration: Duration, _ attempt: Int, on device: any DeviceSession
    ) async {
        let event: MeasurementMachine.Event
        do throws(DeviceError) {
            let measurementID = try await call("measurement/start", DeviceTimeouts.measurementStart) {
                () async throws(DeviceError) in
                try await device.startMeasurement(of: metric, duration: duration)
            }
            event = .started(measurementID, attempt: attempt)
        } catch {
            event = .refused(error, attempt: attempt)
        }
        await perform(measurement.handle(event, at: clock.now))
    }

    private func stop(_ measurementID: MeasurementID, on device: any DeviceSession) async {
        do throws(DeviceError) {
            try await call("measurement/stop", DeviceTimeouts.call) { () async throws(DeviceError) in
                try await device.stopMeasurement(measurementID)
            }
        } catch {
            logger.warning("The measurement cannot be stopped.", metadata: ["error": "\(error)"])
        }
    }

    /// Keeps a sample of the measurement that runs. One that the gateway's schedule wanted is automatic.
    func measured(_ sample: Sample, by measurementID: MeasurementID) async throws {
        var sample = sample
        let isScheduled = measurement.isScheduled(measurementID)
        if isScheduled { sample.isUserInitiated = false }
        guard sample.isValid, sample.end <= clock.now + SyncPolicy.futureTolerance else {
            malformed += 1
            return
        }
        let source: SampleSource = isScheduled ? .live : .measure
        try await take([sample], source: source, isUrgent: true)
        let stored = ledger.latest[sample.metric].flatMap { $0.sample == sample ? $0 : nil }
        let kept =
            stored
            ?? StoredSample(
                sample: sample, id: SampleID(device: id, sample: sample), revision: 1, receivedAt: clock.now)
        await perform(measurement.handle(.sample(measurementID, kept), at: clock.now))
    }

    /// Gives records of the device the identity under which they are known here: what the gateway's own schedule measured
    /// is kept as automatic, but the device remembers it as asked for.
    func recognise(
        _ samples: [Sample], of metric: Metric, capabilities: Capabilities
    ) async throws(StoreError) -> [Sample] {
        guard capabilities.supports(.measure, metric), !capabilities.supports(.monitor, metric) else { return samples }
        var result = samples
        // One by one: they are few, as somebody or the schedule asked for each, but the store may have very many between.
        for (index, sample) in samples.enumerated() where sample.isUserInitiated {
            let same = try await store.samples(
                of: id, metric: metric, starting: sample.start..<(sample.start + .milliseconds(1)), after: nil,
                limit: Self.sameStart)
            if same.contains(where: { $0.sample.end == sample.end && !$0.sample.isUserInitiated }) {
                result[index].isUserInitiated = false
            }
        }
        return result
    }

    /// Samples of one metric that begin in the same millisecond and are looked at: a maximum, a minimum and their like.
    private static let sameStart = 16
}
