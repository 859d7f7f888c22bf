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
        /// The open request of the transport that waits for a passkey.
        var request: Promise<Passkey?>?
        var onChange: (@Sendable (PairingState) -> Void)?
    }
    private let state = Mutex(State())

    /// The state of the pairing; `nil` before the first one.
    package var pairing: PairingState? { state.withLock { $0.pairing } }

    /// No request yet.
    public init() {}

    /// Waits until a person has given the passkey. One request is open at a time; a new one replaces an earlier one.
    /// - Throws: a `LinkError`: `timeout` without an answer within `limit`, `cancelled` if the task or the request was cancelled.
    public func passkey(within limit: Duration, clock: GatewayClock) async throws(LinkError) -> Passkey {
        let request = Promise<Passkey?>()
        change { state in
            state.request = request
            return PairingState(.passkey, until: clock.now + limit, at: clock.now)
        }
        await clock.withTimeout(limit) { _ = try? await request.wait() }
        let isOpen = state.withLock { state in
            guard state.request === request else { return false }
            state.request = nil
            return true
        }
        guard !isOpen else {
            if Task.isCancelled { throw LinkError(.cancelled, "The passkey is no longer needed.") }
            throw LinkError(.timeout, "No person gave the passkey in time. The next attempt asks for it again.")
        }
        // `enter` took the request and answers it at once.
        guard let passkey = try? await request.wait() else {
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
        let request = state.withLock { state in
            defer { state.request = nil }
            return state.request
        }
        return request?.fulfil(passkey) ?? false
    }

    /// Changes the pairing, and reports its state. An earlier request ends without a passkey.
    private func change(_ change: (inout State) -> PairingState) {
        let (pairing, action, earlier) = state.withLock { state in
            let before = state.request
            let pairing = change(&state)
            state.pairing = pairing
            if pairing.phase != .passkey { state.request = nil }
            return (pairing, state.onChange, before === state.request ? nil : before)
        }
        earlier?.fulfil(nil)
        action?(pairing)
    }
}
