import Concurrency
import Synchronization
public import Vitals

/// A transport's requests for the passkey that a device shows while it is paired. A person answers them.
///
/// The gateway publishes each request, as a state and in Home Assistant, and receives the answer as a command. It stores no passkey: the
/// waiting transport gets it, or it is refused.
public final class PasskeyRequests: Sendable {
    private struct State {
        var pairing: PairingState?
        /// The question of the transport that waits for a passkey.
        var question: Promise<Passkey?>?
        var onChange: (@Sendable (PairingState) -> Void)?
    }
    private let state = Mutex(State())

    /// The state of the pairing; `nil` before the first one.
    package var pairing: PairingState? { state.withLock { $0.pairing } }

    /// No request yet.
    public init() {}

    /// Waits until a person has given the passkey. One question is open at a time; a new one takes the place of an earlier one.
    /// - Throws: a `LinkError`: `timeout` without an answer within `limit`, `cancelled` if the task or the question was cancelled.
    public func passkey(within limit: Duration, clock: GatewayClock) async throws(LinkError) -> Passkey {
        let question = Promise<Passkey?>()
        change { state in
            state.question = question
            return PairingState(.passkey, until: clock.now + limit, at: clock.now)
        }
        await clock.race(against: limit) { _ = try? await question.wait() }
        let isOpen = state.withLock { state in
            guard state.question === question else { return false }
            state.question = nil
            return true
        }
        guard !isOpen else {
            if Task.isCancelled { throw LinkError(.cancelled, "The passkey is no longer needed.") }
            throw LinkError(.timeout, "Nobody gave the passkey in time. It is asked for again at the next attempt.")
        }
        // `enter` took the question and answers it at once.
        guard let passkey = try? await question.wait() else {
            throw LinkError(.cancelled, "The passkey is no longer needed.")
        }
        change { _ in PairingState(.checking, at: clock.now) }
        return passkey
    }

    /// The pairing is over: the device is paired, or the attempt has failed for a reason.
    public func end(_ failure: LinkError?, clock: GatewayClock) {
        change { _ in
            failure.map { PairingState(.failed, message: $0.message, at: clock.now) }
                ?? PairingState(.paired, at: clock.now)
        }
    }

    /// Calls `action` with each state of the pairing, beginning with the present one: `idle` at first.
    package func follow(clock: GatewayClock, _ action: @escaping @Sendable (PairingState) -> Void) {
        change { state in
            state.onChange = action
            return state.pairing ?? PairingState(.idle, at: clock.now)
        }
    }

    /// Reports the pairing as idle, and no longer calls the action of `follow`.
    package func unfollow(clock: GatewayClock) {
        change { _ in PairingState(.idle, at: clock.now) }
        state.withLock { $0.onChange = nil }
    }

    /// Hands the passkey to the transport that waits for it. Returns whether one waited.
    package func enter(_ passkey: Passkey) -> Bool {
        let question = state.withLock { state in
            defer { state.question = nil }
            return state.question
        }
        return question?.fulfil(passkey) ?? false
    }

    /// Changes the pairing, and reports its state. An earlier question ends without a passkey.
    private func change(_ change: (inout State) -> PairingState) {
        let (pairing, action, earlier) = state.withLock { state in
            let before = state.question
            let pairing = change(&state)
            state.pairing = pairing
            if pairing.phase != .passkey { state.question = nil }
            return (pairing, state.onChange, before === state.question ? nil : before)
        }
        earlier?.fulfil(nil)
        action?(pairing)
    }
}
