import GatewayKit
import Vitals

extension DriverConformance {
    /// Checks that the device's events arrive in order, and that the end of the link is reported.
    func checkEvents() async -> [Violation] {
        await session(.events, takesEvents: true) { session, peer, violations in
            let events = EventReader(session, violations)
            if let sendEvents = peer.sendEvents {
                var expected = await sendEvents().flatMap(\.oneByOne)[...]
                while let next = expected.first {
                    let event = try await self.inTime("waiting for \(next)") { try await events.next() }
                    guard let event else {
                        violations.add("the events ended before \(next).")
                        return
                    }
                    if event == next { expected.removeFirst() }
                }
            }
            violations.expectFailure()
            await peer.disconnect()
            await self.expectEnd(of: events, violations)
            let capabilities = session.description.capabilities
            guard let metric = capabilities.metrics(with: .history).first else { return }
            let request = HistoryRequest(metric: metric, from: Timestamp(seconds: 0), to: Timestamp(seconds: 1))
            try await violations.expect([.disconnected], "reading history after the end of the link") {
                _ = try await self.inTime("history") { try await session.history(request) }
            }
        }
    }

    /// Reads events still in transit, and then expects the end.
    func expectEnd(of events: EventReader, _ violations: Violations) async {
        do {
            try await inTime("the end of the events") { while try await events.next() != nil {} }
        } catch {
            violations.expect(
                (error as? DeviceError)?.code == .disconnected,
                "the events ended with \(error); they should end with nil or disconnected.")
        }
    }
}

extension DeviceEvent {
    /// This event, split into one event per sample if it has several.
    fileprivate var oneByOne: [DeviceEvent] {
        guard case .samples(let samples, _) = self else { return [self] }
        return samples.map { .samples([$0], receipts: []) }
    }
}

extension DriverConformance {
    /// Reads unasked events of the device for a while.
    package func listen(for duration: Duration) async -> [Violation] {
        await session(.events) { _, _, _ in
            // The session reads the events in the background.
            try await self.clock.sleep(for: duration)
        }
    }
}
