import GatewayKit
import Vitals

/// Reads a session's events and keeps the unused ones. Samples are split into single ones.
actor EventReader {
    private let session: any DeviceSession
    private let violations: Violations
    private var waiting: ArraySlice<DeviceEvent> = []
    private var ended: Set<MeasurementID> = []

    init(_ session: any DeviceSession, _ violations: Violations) {
        self.session = session
        self.violations = violations
    }

    /// The next event, `nil` at the end.
    func next() async throws -> DeviceEvent? {
        while waiting.isEmpty {
            guard let events = try await session.nextEvents() else { return nil }
            waiting = events.flatMap(parts)[...]
        }
        let event = waiting.removeFirst()
        switch event {
        case .measurementSample(let id, _) where ended.contains(id):
            violations.add("the measurement \(id.text) gave a sample after its end.")
        case .measurementEnded(let id, _, _):
            violations.expect(ended.insert(id).inserted, "the measurement \(id.text) ended twice.")
        default: break
        }
        return event
    }

    /// Waits for a measurement's end. Its samples count even if samples of another measurement come in between.
    func end(of id: MeasurementID) async throws -> (samples: [Sample], completed: Bool, error: DeviceError?) {
        var samples: [Sample] = []
        while let event = try await next() {
            switch event {
            case .measurementSample(id, let sample): samples.append(sample)
            case .measurementEnded(id, let completed, let error): return (samples, completed, error)
            default: break
            }
        }
        throw DeviceError(.disconnected, "The events ended before the measurement.")
    }

    /// The event split into single samples with their receipts; any other event unchanged.
    private func parts(of event: DeviceEvent) -> [DeviceEvent] {
        guard case .samples(let samples, let receipts) = event else { return [event] }
        guard !receipts.isEmpty else { return samples.map { .samples([$0], receipts: []) } }
        violations.expect(
            receipts.count == samples.count,
            "\(samples.count) samples came with \(receipts.count) receipts; each of them, or none, should have one.")
        return zip(samples, receipts).map { .samples([$0], receipts: [$1]) }
    }
}
