package import GatewayKit
import Vitals

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
/// Each check opens a session of its own, with a new peer. Every operation of `DeviceSession` is in one of them.
package struct DriverConformance: Sendable {
    /// Opens a session with a new peer, calls the closure, and closes it.
    package typealias Open =
        @Sendable (_ body: @Sendable (any DeviceSession, Peer) async throws -> Void) async throws -> Void

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
        findings += await checkClock()
        findings += await checkHistory()
        findings += await checkAcknowledgement()
        findings += await checkSummaries()
        findings += await checkUnsupported()
        findings += await checkMonitoring()
        findings += await checkMeasurement()
        findings += await checkEvents()
        findings += await checkReceipts()
        findings += await checkOverlap()
        findings += await checkCancellation()
        findings += await checkSilence()
        findings += await checkInterruption()
        findings += await checkShutdown()
        return findings
    }

    /// Runs one check in a session of its own, and collects what it finds.
    ///
    /// A check that does not look at the device's events lets them be taken all the same, as the gateway takes them at all
    /// times: a driver stops reading from its device while they wait.
    func session(
        _ name: String, takesEvents: Bool = false,
        _ body: @escaping @Sendable (any DeviceSession, Peer, Findings) async throws -> Void
    ) async -> [String] {
        let findings = Findings()
        do {
            try await open { session, peer in
                let check: @Sendable () async -> Void = {
                    do {
                        try await body(session, peer, findings)
                    } catch {
                        findings.add("failed: \(error)")
                    }
                }
                guard !takesEvents else { return await check() }
                let end: Void? = await self.cancel(
                    { while (try? await session.nextEvents()) != nil {} }, after: check, orRelease: peer.disconnect)
                guard end == nil else { return }
                findings.add("waiting for events did not end when it was cancelled.")
                findings.expectFailure()
            }
        } catch {
            // After the end of the link a session fails as a whole: that is how a driver says so.
            if !findings.expectsFailure { findings.add("withSession failed: \(error)") }
        }
        return findings.all.map { "\(name): \($0)" }
    }

    /// Waits no longer than the patience. An operation that does not end when it is cancelled is waited for all the same.
    ///
    /// A driver may cancel the body of a session whose link has ended: what is waited for then ends by itself.
    func inTime<Value: Sendable>(
        _ what: String, plus extra: Duration = .zero, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let limit = expectation.patience + extra
        return try await withThrowingTaskGroup(of: Waiting<Value>.self) { group in
            group.addTask { .done(try await body()) }
            group.addTask { [clock] in
                do { try await clock.sleep(for: limit) } catch { return .cancelled }
                return .late
            }
            defer { group.cancelAll() }
            while let next = try await group.next() {
                switch next {
                case .done(let value): return value
                case .late: throw DeviceError(.timeout, "\(what) did not end within \(limit).")
                case .cancelled: continue
                }
            }
            throw CancellationError()
        }
    }

    /// Makes a call, cancels it when `body` is done, and returns what it gives. One that does not end within the patience is
    /// let go by `release`; the result is `nil` then.
    func cancel<Value: Sendable>(
        _ call: @escaping @Sendable () async -> Value, after body: @escaping @Sendable () async -> Void,
        orRelease release: @Sendable () async -> Void
    ) async -> Value? {
        let isCancelled = Recorder<Void>()
        return await withTaskGroup(of: Waiting<Value>.self) { group in
            group.addTask {
                await withTaskGroup { inner in
                    inner.addTask { await call() }
                    await body()
                    inner.cancelAll()
                    isCancelled.append(())
                    return await inner.next().map { .done($0) } ?? .cancelled
                }
            }
            group.addTask { [clock, patience = expectation.patience] in
                do {
                    try await isCancelled.wait { !$0.isEmpty }
                    try await clock.sleep(for: patience)
                } catch {
                    return .cancelled
                }
                return .late
            }
            defer { group.cancelAll() }
            while let next = await group.next() {
                switch next {
                case .done(let value): return value
                case .late:
                    await release()
                    return nil
                case .cancelled: continue
                }
            }
            return nil
        }
    }

    private enum Waiting<Value: Sendable>: Sendable { case done(Value), late, cancelled }
}
