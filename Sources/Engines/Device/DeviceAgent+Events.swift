import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Takes what the device sends by itself, until the session ends. While samples are being kept nothing more is taken:
    /// what comes meanwhile gathers in the driver's bounded inbox and is kept together.
    func receive(from device: any DeviceSession) async throws {
        while let events = try await device.nextEvents() {
            heard(at: clock.now)
            try await handle(events, from: device)
        }
        throw SessionEnd.failed("The device closed the connection.")
    }

    private func handle(_ events: [DeviceEvent], from device: any DeviceSession) async throws {
        var samples: [Sample] = []
        var receipts: [SampleReceipt?] = []
        for event in events {
            if case .samples(let new, let marks) = event {
                samples += new
                receipts += new.indices.map { $0 < marks.count ? marks[$0] : nil }
                continue
            }
            // What comes after samples must not overtake them.
            try await keepLive(samples, receipts, device)
            samples = []
            receipts = []
            try await handle(event)
        }
        try await keepLive(samples, receipts, device)
    }

    private func handle(_ event: DeviceEvent) async throws {
        switch event {
        case .samples: break
        case .measurementSample(let measurementID, let sample): try await measured(sample, by: measurementID)
        case .measurementEnded(let measurementID, let completed, let error):
            await perform(
                measurement.handle(.ended(measurementID, completed: completed, error: error), at: clock.now))
        case .battery(let percent, _):
            let now = clock.now
            let sample = Sample(metric: .battery, start: now, reading: .value(percent))
            guard sample.isValid else { return }
            try await take([sample], source: .live, isUrgent: true)
            guard !info.hasBattery else { return }
            info.hasBattery = true
            await keep([.hasBattery])
            publish(.info(info))
        case .wear(let isWorn): self.isWorn = isWorn
        case .alert(var alert):
            guard info.capabilities.map(alert.rule.isOffered) ?? true else {
                return ignore("an alert of \(alert.rule.name), of which the device does not say that it has it")
            }
            // By a clock that is ahead. It cannot have happened later than it is heard of.
            if alert.at > clock.now + SyncPolicy.futureTolerance { alert.at = clock.now }
            try await take(alert)
        case .malformed(let what): ignore(what)
        }
    }

    private func ignore(_ what: String) {
        malformed += 1
        logger.debug("Input of the device was ignored.", metadata: ["what": "\(what)", "count": "\(malformed)"])
    }

    /// Says once which metrics come that the device does not name among its capabilities. They are kept, since
    /// no sample is to be lost, but there is no entity for them, nor a setting.
    private func nameUndeclared(_ samples: [Sample]) {
        guard let capabilities = info.capabilities else { return }
        for sample in samples where !capabilities.supports(sample.metric) && sample.metric != .battery {
            guard undeclared.insert(sample.metric).inserted else { continue }
            logger.warning(
                "The device sends a metric that is not among its capabilities; its samples are kept.",
                metadata: ["metric": "\(sample.metric.rawValue)"])
        }
    }

    /// Keeps live samples, and tells the device which of them are durable and which are refused.
    private func keepLive(
        _ samples: [Sample], _ receipts: [SampleReceipt?], _ device: any DeviceSession
    ) async throws {
        guard !samples.isEmpty else { return }
        let horizon = clock.now + SyncPolicy.futureTolerance
        var good: [Sample] = []
        good.reserveCapacity(samples.count)
        var settled: [(receipt: SampleReceipt, refusal: DeviceError?)] = []
        for (sample, receipt) in zip(samples, receipts) {
            let refusal = refusal(of: sample, horizon: horizon)
            if refusal == nil { good.append(sample) } else { malformed += 1 }
            if let receipt { settled.append((receipt, refusal)) }
        }
        nameUndeclared(good)
        if !good.isEmpty { try await take(good, source: .live, isUrgent: true) }
        if !settled.isEmpty { try await device.settle(settled) }
    }

    private func refusal(of sample: Sample, horizon: Timestamp) -> DeviceError? {
        if !sample.isValid {
            return DeviceError(.invalid, sample.violations.map { "\($0.path): \($0.message)" }.joined(separator: " "))
        }
        if sample.end > horizon {
            return DeviceError(.invalid, "The sample lies in the future; set the device's clock.")
        }
        return nil
    }
}
