import Concurrency
import GatewayKit
import Logging
import Vitals

/// Keeps the device connected, and knows whether it is.
final class DeviceConnection {
    /// State of the connection.
    enum Phase {
        /// Nothing is open.
        case idle
        case attempting(ConnectionAttempt)
        case open(OpenSession)
    }

    private let context: DeviceContext
    private let opener: DeviceAgent.Opener
    private let retry: RetryTimer
    private var machine: ConnectionMachine
    private var contact: Contact
    private var phase = Phase.idle
    /// Fulfilled at the next connection, for commands that wait for one.
    private(set) var connected = Promise<Void>()
    /// Fulfilled when the present attempt has ended; `nil` as long as nothing ends it.
    private var ending: Promise<Void>?

    init(
        context: DeviceContext, timers: Timers, opener: @escaping DeviceAgent.Opener, presence: DevicePresence,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.context = context
        retry = RetryTimer(clock: context.clock, timers: timers, presence: presence)
        self.opener = opener
        machine = ConnectionMachine(at: context.clock.now, generator: generator)
        contact = Contact(offlineAfter: context.policy.offlineAfter)
    }

    /// The open session.
    var session: OpenSession? { if case .open(let session) = phase { session } else { nil } }
    var state: LinkState { machine.state }
    var lastSeen: Timestamp? { contact.lastSeen }
    var clock: GatewayClock { context.clock }
    var offlineAt: Timestamp? { contact.offlineAt }

    /// Restores when the device was last seen.
    func restore(lastSeen: Timestamp?) {
        contact = Contact(lastSeen: lastSeen, offlineAfter: context.policy.offlineAfter)
    }

    /// Performs what the connection machine decides, until it decides to wait, the task is cancelled or the agent has to
    /// end. While it waits, there is only a timer, and no task.
    /// - Parameters:
    ///   - wait: the wait that is over; an earlier one was over already. `nil` at the start.
    ///   - runSession: what to do with an open session.
    ///   - onWaited: called when the wait is over.
    func keepConnected(
        after wait: RetryTimer.Number?,
        _ runSession: @escaping @Sendable (any DeviceSession, ConnectionAttempt) async throws -> Void,
        onWaited: @escaping @Sendable (RetryTimer.Number) -> Void
    ) async {
        if let wait, !retry.end(wait) { return }
        var event = wait == nil ? ConnectionMachine.Event.start : .woken
        while !Task.isCancelled, !context.isStopping {
            var next: ConnectionMachine.Event?
            for action in machine.handle(event, at: context.clock.now) {
                switch action {
                case .publish(let state): context.publish(.link(state))
                case .open:
                    let reason = await openOnce(runSession)
                    report(reason)
                    next = .ended(reason)
                case .wait(let duration) where duration > .zero: return retry.begin(duration, onOver: onWaited)
                case .wait: next = .woken
                case .close: break
                }
            }
            guard let next else { return }
            event = next
        }
    }

    /// Publishes that nothing more is tried.
    func conclude() {
        retry.cancel()
        publish(machine.handle(.stop, at: context.clock.now))
    }

    /// Requests a new connection.
    func reconnect() {
        for action in machine.handle(.reconnect, at: context.clock.now) {
            switch action {
            case .close: end(.reconnect)
            case .wait: retry.endEarly()
            default: break
            }
        }
    }

    /// Ends the attempt, the session or the wait for the next attempt.
    func end(_ reason: SessionEnd) {
        switch phase {
        case .idle: retry.endEarly()
        case .attempting(let attempt): attempt.end.fulfil(reason)
        case .open(let session): session.attempt.end.fulfil(reason)
        }
    }

    /// Reports that the attempt or its session has to end now: its driver is cancelled.
    func beginEnd() {
        guard ending == nil else { return }
        let end = Promise<Void>()
        ending = end
        context.output.ending(context.id, end)
    }

    /// Enters an open session. Returns the work that will be handed to it.
    func open(_ description: DeviceDescription, _ attempt: ConnectionAttempt) -> Mailbox<SessionWork, Never> {
        let work = Mailbox<SessionWork, Never>(capacity: DeviceAgent.maximumCommands)
        attempt.opened.fulfil(())
        retry.succeeded()
        phase = .open(OpenSession(description: description, attempt: attempt, work: work))
        return work
    }

    /// Reports the device as connected, once the session's clock and capabilities are known.
    func reportConnected(_ description: DeviceDescription) {
        let now = context.clock.now
        markSeen()
        let skew = description.clock.map { Double(($0.now - now).inMilliseconds) / 1000 }
        publish(machine.handle(.opened(clockSkew: skew), at: now))
    }

    /// Resumes commands that wait for a connection.
    func admitCommands() { connected.fulfil(()) }

    /// Leaves the session, which takes no more work.
    func close() {
        guard case .open(let session) = phase else { return }
        session.attempt.closed.fulfil(())
        phase = .attempting(session.attempt)
        connected = Promise()
        session.work.finish()
    }

    /// Hands work to the open session. Returns the error if that fails; `abandon` is then not called.
    func handOver(_ work: SessionWork) -> DeviceError? {
        guard let session else { return SessionWork.notConnected }
        return switch session.work.offer(work) {
        case .taken: nil
        case .full: DeviceError(.busy, "Too many commands are running.")
        case .closed: SessionWork.notConnected
        }
    }

    /// Hands work to the open session and waits for the result.
    /// - Throws: `disconnected` if there is no session, or it ends first.
    func ask<Value: Sendable>(
        _ work: (Promise<Result<Value, DeviceError>>) -> SessionWork
    ) async throws(DeviceError) -> Value {
        let reply = Promise<Result<Value, DeviceError>>()
        if let error = handOver(work(reply)) { throw error }
        return try await reply.waitUncancelled().get()
    }

    // MARK: - Signs of life

    /// Records a sign of life.
    func markSeen() {
        contact.markSeen(at: context.clock.now, uptime: context.clock.uptime)
        publishAvailability(always: false)
    }

    /// Does not count the time until now as silence: the gateway was not listening.
    func ignoreSilence() { contact.ignoreSilence(until: context.clock.uptime) }

    func publishAvailability(always: Bool) {
        guard contact.updateAvailability(at: context.clock.now) || always else { return }
        context.publish(.availability(isOnline: contact.isOnline))
    }

    /// Stores when the device was last seen: at intervals, and when its session has ended.
    func saveLastSeen(isFinal: Bool) async {
        if let lastSeen = contact.takeUnsaved(isFinal: isFinal) { await context.save([.lastSeen(lastSeen)]) }
    }

    /// Pings a silent device, until one ping fails.
    func watch(_ device: any DeviceSession) async throws {
        let clock = context.clock
        var pinged = clock.uptime
        while true {
            let silent = clock.uptime - max(contact.lastHeard, pinged)
            guard silent >= DeviceTimeouts.idle else {
                try await clock.sleep(for: DeviceTimeouts.idle - silent)
                continue
            }
            try await clock.withDeadline(DeviceTimeouts.ping, naming: "a ping") {
                () async throws(DeviceError) in try await device.ping()
            }
            pinged = clock.uptime
            markSeen()
        }
    }

    /// Interval at which the signal strength is queried.
    private static let signalInterval: Duration = .minutes(1)

    /// Queries the radio signal strength at intervals, if the session knows it.
    func followSignal(
        of device: any DeviceSession, _ note: @Sendable (_ strength: Int) async -> Void
    ) async throws {
        while true {
            let strength = try? await clock.withDeadline(
                DeviceTimeouts.ping, naming: "the signal strength"
            ) { () async throws(DeviceError) in await device.signalStrength() }
            if let strength = strength ?? nil { await note(strength) }
            try await context.clock.sleep(for: Self.signalInterval)
        }
    }

    /// Records the radio signal strength, in dBm.
    func noteSignal(_ strength: Int) { publish(machine.handle(.signal(strength), at: context.clock.now)) }

    // MARK: - Attempts

    /// Opens a session and holds it. Returns why it ended; `nil` if on purpose.
    private func openOnce(
        _ runSession: @escaping @Sendable (any DeviceSession, ConnectionAttempt) async throws -> Void
    ) async -> String? {
        let attempt = ConnectionAttempt()
        phase = .attempting(attempt)
        defer {
            phase = .idle
            ending?.fulfil(())
            ending = nil
        }
        if context.isStopping { return nil }
        do {
            try await withThrowingTaskGroup(of: Bool.self) { [opener] group in
                group.addTask {
                    try await opener { session in try await runSession(session, attempt) }
                    return true
                }
                // Ends an attempt that never opens a session.
                group.addTask {
                    let reason = try await attempt.end.wait()
                    if attempt.isOpen { return false }
                    throw reason
                }
                defer { group.cancelAll() }
                do { while let isOver = try await group.next(), !isOver {} } catch let reason as SessionEnd {
                    beginEnd()
                    throw reason
                }
            }
            return "The device closed the connection."
        } catch SessionEnd.stopped, SessionEnd.reconnect {
            return nil
        } catch SessionEnd.failed(let message) {
            return message
        } catch let error as LinkError where error.code == .ended {
            return nil
        } catch is CancellationError {
            return "The connection was cancelled."
        } catch {
            return "\(error)"
        }
    }

    /// Says what keeps the device from giving anything. An open session says itself when it is over.
    private func report(_ failure: String?) {
        if state.phase == .connected {
            if context.clock.now - state.since >= ConnectionMachine.stableAfter { retry.forgetFailures() }
        } else if let failure, !context.isStopping, let failures = retry.failed(failure) {
            context.logger.warning(
                "The device cannot be connected; trying again.",
                metadata: ["error": "\(failure)", "failures": "\(failures)"])
        }
    }

    private func publish(_ actions: [ConnectionMachine.Action]) {
        for case .publish(let state) in actions { context.publish(.link(state)) }
    }
}
