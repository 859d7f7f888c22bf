import GatewayKit
import Vitals

extension DriverConformance {
    /// Too long to end by itself before the suite stops it.
    static let longMeasurement: Duration = .minutes(10)

    /// Checks that a measurement gives samples and one end, and nothing after it; that a stopped one also ends; and
    /// that a second one at the same time is handled as documented.
    func checkMeasurement() async -> [Violation] {
        await session(.measurement, takesEvents: true) { session, _, violations in
            let events = EventReader(session, violations)
            for metric in session.description.capabilities.metrics(with: .measure) {
                try await self.measure(metric, session, events, violations)
                try await self.stop(metric, session, events, violations)
            }
        }
    }

    private func measure(
        _ metric: Metric, _ session: any DeviceSession, _ events: EventReader, _ violations: Violations
    ) async throws {
        let duration = expectation.measurementDuration
        let id = try await start(metric, duration, session)
        let end = try await inTime("the measurement of \(metric.rawValue)", plus: duration) {
            try await events.end(of: id)
        }
        violations.expect(!end.samples.isEmpty, "\(metric.rawValue): the measurement gave no samples.")
        violations.expect(
            end.samples.allSatisfy { $0.metric == metric },
            "\(metric.rawValue): the measurement gave samples of another metric.")
        violations.expect(
            end.samples.allSatisfy(\.isValid), "\(metric.rawValue): the measurement gave a sample that cannot be.")
        violations.expect(
            end.completed && end.error == nil,
            "\(metric.rawValue): the measurement was not completed: \(end.error?.message ?? "no error").")
        do {
            // The gateway's stop and the device's end may cross.
            try await inTime("stopping what has ended") { try await session.stopMeasurement(id) }
        } catch {
            violations.add(
                "\(metric.rawValue): stopping a measurement that has ended threw \(error); it should do nothing.")
        }
    }

    private func stop(
        _ metric: Metric, _ session: any DeviceSession, _ events: EventReader, _ violations: Violations
    ) async throws {
        let id = try await start(metric, Self.longMeasurement, session)
        switch expectation.secondMeasurement {
        case .isBusy:
            try await violations.expect([.busy], "\(metric.rawValue): a second measurement") {
                _ = try await self.start(metric, Self.longMeasurement, session)
            }
            try await stop(id, metric, session, events, violations)
        case .isQueued:
            async let second = start(metric, Self.longMeasurement, session)
            // The second start reaches the driver while the first measurement runs; otherwise it would not be a second
            // one.
            try await clock.sleep(for: Self.timeToAsk)
            try await stop(id, metric, session, events, violations)
            let next = try await second
            violations.expect(next != id, "\(metric.rawValue): two measurements have the same name.")
            try await stop(next, metric, session, events, violations)
        }
    }

    private func stop(
        _ id: MeasurementID, _ metric: Metric, _ session: any DeviceSession, _ events: EventReader,
        _ violations: Violations
    ) async throws {
        try await inTime("stopping the measurement of \(metric.rawValue)") { try await session.stopMeasurement(id) }
        let end = try await inTime("the end of a stopped measurement of \(metric.rawValue)") {
            try await events.end(of: id)
        }
        violations.expect(!end.completed, "\(metric.rawValue): a stopped measurement says that it was completed.")
    }

    /// The most time that a call takes to reach the driver.
    private static let timeToAsk: Duration = .milliseconds(100)

    private func start(
        _ metric: Metric, _ duration: Duration, _ session: any DeviceSession
    ) async throws -> MeasurementID {
        try await inTime("starting a measurement of \(metric.rawValue)") {
            try await session.startMeasurement(of: metric, duration: duration)
        }
    }
}
