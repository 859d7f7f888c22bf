import GatewayKit
import Vitals

extension DriverConformance {
    /// How often a call is cancelled, each time a little later.
    static let cancellations = 20

    /// What the device sends must arrive in order, and its end must be told.
    package func checkEvents() async -> [String] {
        await session("events") { session, peer, findings in
            let events = EventReader(session)
            if let sendEvents = peer.sendEvents {
                var expected = await sendEvents()[...]
                while let next = expected.first {
                    let event = try await self.inTime("waiting for \(next)") { try await events.next() }
                    guard let event else {
                        findings.add("the events ended before \(next).")
                        return
                    }
                    if event == next { expected.removeFirst() }
                }
            }
            findings.expectFailure()
            await peer.disconnect()
            do {
                // Whatever was on its way may still come.
                try await self.inTime("the end of the events") { while try await events.next() != nil {} }
            } catch {
                findings.expect(
                    (error as? DeviceError)?.code == .disconnected,
                    "the events ended with \(error); they should end with nil or disconnected.")
            }
            let capabilities = session.description.capabilities
            guard let metric = capabilities.metrics(with: .history).first else { return }
            let request = HistoryRequest(metric: metric, from: Timestamp(seconds: 0), to: Timestamp(seconds: 1))
            await findings.expect([.disconnected], "reading history after the end of the link") {
                _ = try await self.inTime("history") { try await session.history(request) }
            }
        }
    }

    /// A call that is cancelled must not break the session.
    package func checkCancellation() async -> [String] {
        await session("cancellation") { session, _, findings in
            let metric = session.description.capabilities.metrics(with: .history).first {
                self.expectation.history[$0]?.isEmpty == false
            }
            let records = metric.flatMap { self.expectation.history[$0] } ?? []
            let request = metric.flatMap { metric in
                records.first.flatMap { first in
                    records.last.map {
                        HistoryRequest(metric: metric, from: first.start, to: $0.start + .milliseconds(1))
                    }
                }
            }
            for turns in 0..<Self.cancellations {
                await withTaskGroup { group in
                    group.addTask {
                        // Whether it is done or cancelled is a matter of luck; what counts is what comes after.
                        if let request { _ = try? await session.history(request) } else { try? await session.ping() }
                    }
                    for _ in 0..<turns { await Task.yield() }
                    group.cancelAll()
                }
            }
            try await self.inTime("a ping after cancelled calls") { try await session.ping() }
            guard let request else { return }
            let read = try await self.read(session, request, findings)
            self.compare(read, records, "after cancelled calls", findings)
        }
    }

    /// A goodbye must not take long.
    package func checkShutdown() async -> [String] {
        await session("shutdown") { session, _, findings in
            findings.expectFailure()
            try await self.inTime("saying goodbye") { await session.shutdown() }
        }
    }
}
