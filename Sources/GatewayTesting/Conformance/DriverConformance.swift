package import GatewayKit
import Synchronization
package import Vitals

/// What every driver must do, whatever its protocol: the suite that a plugin's tests run against a peer with known content.
///
///     let findings = await DriverConformance(expecting: .init(history: records)) { body in
///         let peer = MyScriptedDevice(records)
///         try await driver.withSession(over: .bytes(peer.link), context: context) { session in
///             try await body(session, .init(disconnect: { peer.close() }))
///         }
///     }.check()
///     #expect(findings.isEmpty, "\(findings)")
///
/// Each check opens a session of its own.
package struct DriverConformance: Sendable {
    /// Opens a session with a new peer, calls the closure, and closes it.
    package typealias Open =
        @Sendable (_ body: @Sendable (any DeviceSession, Peer) async throws -> Void) async throws -> Void

    /// The other side of a session, in the hands of the suite.
    package struct Peer: Sendable {
        /// Ends the link, as if the device went out of reach.
        package var disconnect: @Sendable () async -> Void
        /// Lets the device send something by itself, and returns the events that must arrive, in this order. `nil` for a
        /// device that sends nothing by itself.
        package var sendEvents: (@Sendable () async -> [DeviceEvent])?

        /// A peer.
        package init(
            disconnect: @escaping @Sendable () async -> Void,
            sendEvents: (@Sendable () async -> [DeviceEvent])? = nil
        ) {
            self.disconnect = disconnect
            self.sendEvents = sendEvents
        }
    }

    /// What a driver does when a measurement is to start while another one runs. Its README says which.
    package enum SecondMeasurement: Sendable, Hashable {
        /// It throws `busy`.
        case isBusy
        /// It starts when the first one has ended.
        case isQueued
    }

    /// What is known about the peer.
    package struct Expectation: Sendable {
        /// All records of the metrics with a history.
        package var history: [Metric: [Sample]]
        /// What a second measurement does.
        package var secondMeasurement: SecondMeasurement
        /// How long measurements shall take.
        package var measurementDuration: Duration
        /// How long anything may take.
        package var patience: Duration

        /// What is known.
        package init(
            history: [Metric: [Sample]] = [:], secondMeasurement: SecondMeasurement = .isBusy,
            measurementDuration: Duration = .seconds(1), patience: Duration = .seconds(10)
        ) {
            self.history = history.mapValues { $0.sorted { $0.start < $1.start } }
            self.secondMeasurement = secondMeasurement
            self.measurementDuration = measurementDuration
            self.patience = patience
        }
    }

    let expectation: Expectation
    let clock: GatewayClock
    let open: Open

    /// The suite for a driver.
    /// - Parameter clock: what the patience is measured with; a simulated one where the peer is.
    package init(expecting expectation: Expectation, clock: GatewayClock = .system, open: @escaping Open) {
        self.expectation = expectation
        self.clock = clock
        self.open = open
    }

    /// Runs all checks. Each finding is a sentence that says what the driver does and what it should do.
    package func check() async -> [String] {
        var findings: [String] = []
        findings += await checkDescription()
        findings += await checkHistory()
        findings += await checkUnsupported()
        findings += await checkMonitoring()
        findings += await checkMeasurement()
        findings += await checkEvents()
        findings += await checkCancellation()
        findings += await checkShutdown()
        return findings
    }

    /// Runs one check in a session of its own, and collects what it finds.
    func session(
        _ name: String, _ body: @escaping @Sendable (any DeviceSession, Peer, Findings) async throws -> Void
    ) async -> [String] {
        let findings = Findings()
        do {
            try await open { session, peer in
                do {
                    try await body(session, peer, findings)
                } catch {
                    findings.add("failed: \(error)")
                }
            }
        } catch {
            // After the end of the link a session fails as a whole: that is how a driver says so.
            if !findings.expectsFailure { findings.add("withSession failed: \(error)") }
        }
        return findings.all.map { "\(name): \($0)" }
    }

    /// Waits no longer than the patience. An operation that does not end when it is cancelled is waited for all the same.
    func inTime<Value: Sendable>(
        _ what: String, plus extra: Duration = .zero, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let limit = expectation.patience + extra
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask { [clock] in
                try await clock.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw DeviceError(.timeout, "\(what) did not end within \(limit).")
            }
            return value
        }
    }
}

/// What a check found.
final class Findings: Sendable {
    private let state = Mutex<(all: [String], expectsFailure: Bool)>(([], false))

    var all: [String] { state.withLock { $0.all } }
    /// Whether the check has ended the link itself.
    var expectsFailure: Bool { state.withLock { $0.expectsFailure } }

    func add(_ finding: String) { state.withLock { $0.all.append(finding) } }
    func expectFailure() { state.withLock { $0.expectsFailure = true } }

    /// Adds a finding if something is not so.
    func expect(_ condition: Bool, _ finding: @autoclosure () -> String) { if !condition { add(finding()) } }

    /// Adds a finding if something does not throw a device error of these codes.
    func expect(
        _ codes: Set<DeviceError.Code>, _ what: String, _ body: () async throws -> Void
    ) async {
        let names = codes.map(\.rawValue).sorted().joined(separator: " or ")
        do {
            try await body()
            add("\(what) succeeded; it should throw \(names).")
        } catch {
            guard let code = (error as? DeviceError)?.code, codes.contains(code) else {
                add("\(what) threw \(error); it should throw \(names).")
                return
            }
        }
    }
}
