import Concurrency
public import GatewayKit
public import Vitals

/// The requirements for every driver, of any protocol: a suite for a plugin's tests, run against a peer with
/// known content.
///
///     let violations = await DriverConformance(expecting: .init(history: records)) { body in
///         let peer = MyScriptedDevice(records)
///         try await driver.withSession(over: .bytes(peer.link), context: context) { session in
///             try await body(session, .init(disconnect: { peer.close() }))
///         }
///     }.check()
///     #expect(violations.isEmpty, "\(violations)")
///
/// Each check opens its own session, with a new peer. Every operation of `DeviceSession` is part of a check.
public struct DriverConformance: Sendable {
    /// Opens a session with a new peer, calls the closure, and closes the session.
    public typealias Open =
        @Sendable (_ body: @Sendable (any DeviceSession, Peer) async throws -> Void) async throws -> Void

    let expectation: Expectation
    let clock: GatewayClock
    let open: Open

    /// Creates the suite for a driver.
    /// - Parameter clock: the clock for measuring the timeout; a simulated one if the peer is simulated.
    public init(expecting expectation: Expectation, clock: GatewayClock = .system, open: @escaping Open) {
        self.expectation = expectation
        self.clock = clock
        self.open = open
    }

    /// Runs all checks, one after another. Returns the violations; a correct driver has none.
    public func check() async -> [Violation] {
        var violations: [Violation] = []
        for check in Check.allCases { violations += await run(check) }
        return violations
    }

    /// Runs one check.
    package func run(_ check: Check) async -> [Violation] {
        switch check {
        case .description: await checkDescription()
        case .clock: await checkClock()
        case .history: await checkHistory()
        case .acknowledgement: await checkAcknowledgement()
        case .summaries: await checkSummaries()
        case .unsupported: await checkUnsupported()
        case .monitoring: await checkMonitoring()
        case .measurement: await checkMeasurement()
        case .events: await checkEvents()
        case .receipts: await checkReceipts()
        case .overlap: await checkOverlap()
        case .cancellation: await checkCancellation()
        case .silence: await checkSilence()
        case .interruption: await checkInterruption()
        case .shutdown: await checkShutdown()
        }
    }

    /// Runs one check in its own session, and collects the violations.
    ///
    /// If the check itself ignores the device's events, they are read in the background, as the gateway always does: a
    /// driver stops reading from its device while events wait.
    func session(
        _ check: Check, takesEvents: Bool = false,
        _ body: @escaping @Sendable (any DeviceSession, Peer, Violations) async throws -> Void
    ) async -> [Violation] {
        let violations = Violations()
        do {
            try await open { session, peer in
                let check: @Sendable () async -> Void = {
                    do {
                        try await body(session, peer, violations)
                    } catch {
                        violations.add("failed: \(error)", (error as? DeviceError)?.code)
                    }
                }
                guard !takesEvents else { return await check() }
                let end: Void? = await self.cancel(
                    { while (try? await session.nextEvents()) != nil {} }, after: check, orRelease: peer.disconnect)
                guard end == nil else { return }
                violations.add("waiting for events did not end when it was cancelled.")
                violations.expectFailure()
            }
        } catch {
            // After the end of the link, the session as a whole fails: that is how a driver reports it.
            if !violations.expectsFailure {
                violations.add("withSession failed: \(error)", (error as? DeviceError)?.code)
            }
        }
        return violations.all.map { Violation(check, $0.text, $0.code) }
    }

    /// Limits the wait to the timeout. An operation that ignores its cancellation is awaited to its end.
    ///
    /// When a link has ended, a driver may cancel the session's body; the operation then ends by itself.
    func inTime<Value: Sendable>(
        _ what: String, plus extra: Duration = .zero, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let limit = expectation.timeout + extra
        let outcome = await clock.withTimeout(limit) { () async -> Result<Value, any Error> in
            do { return .success(try await body()) } catch { return .failure(error) }
        }
        guard let outcome else { throw DeviceError(.timeout, "\(what) did not end within \(limit).") }
        return try outcome.get()
    }

    /// Makes a call, cancels it when `body` is done, and returns its result. A call that does not end within the
    /// timeout is ended by `release`; the result is then `nil`.
    func cancel<Value: Sendable>(
        _ call: @escaping @Sendable () async -> Value, after body: @escaping @Sendable () async -> Void,
        orRelease release: @Sendable () async -> Void
    ) async -> Value? {
        let cancelled = Promise<Void>()
        return await withTaskGroup(of: Waiting<Value>.self) { group in
            group.addTask {
                await withTaskGroup { inner in
                    inner.addTask { await call() }
                    await body()
                    inner.cancelAll()
                    cancelled.fulfil(())
                    return await inner.next().map { .done($0) } ?? .cancelled
                }
            }
            group.addTask { [clock, timeout = expectation.timeout] in
                do {
                    try await cancelled.wait()
                    try await clock.sleep(for: timeout)
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
