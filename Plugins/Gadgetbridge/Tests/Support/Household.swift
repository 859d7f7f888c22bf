import Foundation
import GatewayKit
import GatewayTesting
import Synchronization
import Testing
import Vitals

@testable import Gadgetbridge

/// What a gateway keeps of a wearable: each record once, with a revision that rises when its content changes.
final class Kept: Sendable {
    struct Key: Hashable {
        var metric: Metric
        var start: Timestamp
        var end: Timestamp
        var isUserInitiated: Bool

        init(_ sample: Sample) {
            (metric, start, end, isUserInitiated) = (sample.metric, sample.start, sample.end, sample.isUserInitiated)
        }
    }

    let charges = Mutex<[Double]>([])
    let endings = Mutex<[String]>([])
    private let records = Mutex<[Key: (sample: Sample, revision: Int)]>([:])

    func store(_ samples: [Sample]) {
        records.withLock { records in
            for sample in samples {
                let key = Key(sample)
                guard let known = records[key] else {
                    records[key] = (sample, 1)
                    continue
                }
                if !known.sample.hasSameContent(as: sample) { records[key] = (sample, known.revision + 1) }
            }
        }
    }

    /// All records of a metric, ascending.
    func samples(_ metric: Metric) -> [Sample] {
        records.withLock { Array($0.values) }.map(\.sample).filter { $0.metric == metric }
            .sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// The records whose content has changed.
    var corrected: [Sample] { records.withLock { Array($0.values) }.filter { $0.revision > 1 }.map(\.sample) }
    var count: Int { records.withLock { $0.count } }
    var metrics: Set<Metric> { records.withLock { Set($0.keys.map(\.metric)) } }
}

/// A gateway in simulated time with one session, beside a phone with real files.
struct Household: Sendable {
    let simulation: Simulation
    let driver: GadgetbridgeDriver
    let context: SessionContext
    let kept = Kept()

    /// Noon after the day of the tests' rows.
    static let start = Phone.at(36)

    /// The charges that were reported.
    var charges: [Double] { kept.charges.withLock { $0 } }
    /// How sessions ended by themselves.
    var endings: [String] { kept.endings.withLock { $0 } }

    static func live(
        with phone: Phone, path: String? = nil, zone: String = "UTC", deadline: Duration = .days(2),
        _ body: @escaping @Sendable (Household) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, start: start, deadline: deadline) { simulation in
            let options = GadgetbridgeOptions(path: path ?? phone.file.path)
            let driver = GadgetbridgeDriver(
                options, reading: simulation.executor.serialExecutor(), opening: simulation.executor.serialExecutor())
            let household = Household(
                simulation: simulation, driver: driver,
                context: try Phone.context(clock: simulation.gatewayClock, zone: zone))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await household.keepConnected() }
                try await body(household)
                group.cancelAll()
            }
        }
    }

    func pass(_ time: Duration) async throws { try await simulation.gatewayClock.sleep(for: time) }

    /// Opens a session after the other, as a gateway does.
    private func keepConnected() async throws {
        while !Task.isCancelled {
            do {
                try await driver.withSession(over: .none, context: context) { session in
                    try await synchronise(session)
                    while let events = try await session.nextEvents() { try await take(events, from: session) }
                }
            } catch is CancellationError { return } catch { kept.endings.withLock { $0.append("\(error)") } }
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
        }
    }

    private func take(_ events: [DeviceEvent], from session: any DeviceSession) async throws {
        for event in events {
            switch event {
            case .samples(let samples, let receipts):
                kept.store(samples)
                try await session.settle(receipts.map { SettledReceipt($0, .new) })
            case .battery(let percent, _): kept.charges.withLock { $0.append(percent) }
            default: Issue.record("an unexpected event: \(event)")
            }
        }
    }
}
