package import GatewayKit
package import GatewayTesting
import Synchronization
package import Vitals

/// A gateway in simulated time with one device: it opens one session after the other, synchronises each, and stores what the device
/// sends. For drivers that need no link.
package struct DriverRun: Sendable {
    package let simulation: Simulation
    package let kept = KeptSamples()
    private let driver: any DeviceDriver
    private let context: SessionContext
    private let reported = Reported()

    /// What a device reports beside samples.
    private final class Reported: Sendable {
        let charges = Mutex<[Double]>([])
        let endings = Mutex<[String]>([])
        let samples = Mutex<[Sample]>([])
        let skipped = Mutex<[SkippedValues]>([])
    }

    /// The charges that were reported.
    package var charges: [Double] { reported.charges.withLock { $0 } }
    /// The samples that came as events, besides the synchronisations, without those that take others back.
    package var events: [Sample] { arrivals.filter { $0.claim != .correction } }
    /// All that came as events, in order of arrival.
    package var arrivals: [Sample] { reported.samples.withLock { $0 } }
    /// The values that the driver has dropped.
    package var skipped: [SkippedValues] { reported.skipped.withLock { $0 } }
    /// How sessions ended by themselves, and events that a device without a link does not send.
    package var endings: [String] { reported.endings.withLock { $0 } }

    /// Keeps the device connected until `body` returns.
    /// - Parameter make: the driver, with what runs its blocking work, and the context of its sessions.
    package static func run(
        start: Timestamp, deadline: Duration = .days(2),
        _ make: @escaping @Sendable (Simulation) throws -> (driver: any DeviceDriver, context: SessionContext),
        _ body: @escaping @Sendable (DriverRun) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, start: start, deadline: deadline) { simulation in
            let (driver, context) = try make(simulation)
            let run = DriverRun(simulation: simulation, driver: driver, context: context)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await run.keepConnected() }
                try await body(run)
                group.cancelAll()
            }
        }
    }

    /// Lets time pass.
    package func pass(_ time: Duration) async throws { try await simulation.gatewayClock.sleep(for: time) }

    /// Opens a session after the other, as a gateway does.
    private func keepConnected() async throws {
        while !Task.isCancelled {
            do {
                try await driver.withSession(over: .none, context: context) { session in
                    try await synchronise(session)
                    while let events = try await session.nextEvents() { try await record(events, from: session) }
                }
            } catch is CancellationError { return } catch { reported.endings.withLock { $0.append("\(error)") } }
            try? await pass(.seconds(5))
        }
    }

    private func synchronise(_ session: any DeviceSession) async throws {
        for metric in session.description.capabilities.metrics(with: .history) {
            var page: String?
            repeat {
                let found = try await session.history(
                    HistoryRequest(
                        metric: metric, from: Timestamp(seconds: 946_684_800),
                        to: context.clock.now + .minutes(5), page: page))
                kept.store(found.samples)
                page = found.next
            } while page != nil
            try await session.acknowledgeHistory(of: metric, through: context.clock.now)
        }
    }

    private func record(_ events: [DeviceEvent], from session: any DeviceSession) async throws {
        for event in events {
            switch event {
            case .samples(let samples, let receipts):
                kept.store(samples.filter { $0.claim != .correction })
                reported.samples.withLock { $0 += samples }
                try await session.settle(receipts.map { SettledReceipt($0, .new) })
            case .battery(let percent, _): reported.charges.withLock { $0.append(percent) }
            case .progress: break
            case .skipped(let values): reported.skipped.withLock { $0.append(values) }
            default: reported.endings.withLock { $0.append("an unexpected event: \(event)") }
            }
        }
    }
}
