import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Simulator

/// A session with a simulated device in simulated time, and everything the device has sent so far.
struct Setup: Sendable {
    let simulation: Simulation
    let session: any DeviceSession
    private let received: Mutexed<[DeviceEvent]>

    /// Runs a session with a device and returns what `body` returns.
    static func play<Result: Sendable>(
        _ driver: SimulatorDriver, at start: Timestamp = noon, zone: String = "Europe/Berlin", seed: UInt64 = 1,
        deadline: Duration = .days(3), _ body: @escaping @Sendable (Setup) async throws -> Result
    ) throws -> Result {
        let calendar = try #require(LocalCalendar(identifier: zone))
        let id = try #require(DeviceID("demo"))
        return try Simulation.run(seed: seed, start: start, deadline: deadline) { simulation in
            let context = SessionContext(
                device: id, gateway: (name: "test", version: "1"), calendar: calendar, clock: simulation.gatewayClock,
                logger: LogRecorder().logger)
            let result = Mutexed<Result?>(nil)
            try await driver.withSession(over: .none, context: context) { session in
                let setup = Setup(simulation: simulation, session: session, received: Mutexed([]))
                try await withThrowingTaskGroup { group in
                    group.addTask { await setup.listen() }
                    result.set(try await body(setup))
                    group.cancelAll()
                }
            }
            return try #require(result.value)
        }
    }

    /// A Wednesday in winter, 12:00 in Berlin.
    static let noon = Timestamp(seconds: 1_768_388_400)

    /// What the device has sent, in the order of arrival.
    var events: [DeviceEvent] { received.value }
    /// The live samples among the events.
    var samples: [Sample] {
        events.flatMap { event in if case .samples(let samples, _) = event { samples } else { [Sample]() } }
    }
    /// The alerts among the events.
    var alerts: [DeviceAlert] {
        events.compactMap { if case .alert(let alert) = $0 { alert } else { nil } }
    }

    /// Lets time pass.
    func pass(_ duration: Duration) async throws { try await simulation.gatewayClock.sleep(for: duration) }

    /// Reads a metric's history, page by page.
    func history(
        _ metric: Metric, from: Timestamp, to: Timestamp, limit: Int = HistoryRequest.maximumLimit
    ) async throws -> [Sample] {
        var result: [Sample] = []
        var page: String?
        var pages = 0
        repeat {
            pages += 1
            try #require(pages <= 100_000, "the history has no end")
            let answer = try await session.history(
                HistoryRequest(metric: metric, from: from, to: to, page: page, limit: limit))
            #expect(answer.samples.count <= limit)
            result += answer.samples
            page = answer.next
        } while page != nil
        return result
    }

    private func listen() async {
        do {
            while let events = try await session.nextEvents() { received.append(events) }
        } catch {
            // The device or the test has ended the session.
            #expect(error.code == .disconnected)
        }
    }
}

/// A value that several tasks use.
final class Mutexed<Value: Sendable>: Sendable {
    fileprivate let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value { state.withLock { $0 } }
    func set(_ value: Value) { state.withLock { $0 = value } }
}

extension Mutexed where Value == [DeviceEvent] {
    fileprivate func append(_ events: [DeviceEvent]) { state.withLock { $0 += events } }
}
