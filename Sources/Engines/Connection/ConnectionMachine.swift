import Concurrency
package import Vitals

/// Decides when to connect a device: at once at the start, then after waits that double with each failure. So an absent
/// device costs little, and one that returns is found soon.
package struct ConnectionMachine: Sendable {
    package enum Event: Sendable {
        case start
        /// The session is open.
        case opened(clockSkew: Double?)
        /// The session ended or could not be opened. `nil`: it was closed on purpose.
        case ended(String?)
        /// The wait is over.
        case woken
        /// A new connection was requested.
        case reconnect
        case signal(Int)
        /// The gateway stops, or the device was removed.
        case stop
    }

    package enum Action: Sendable, Hashable {
        case open
        case close
        case wait(Duration)
        case publish(LinkState)
    }

    /// The wait after the first failure.
    package static let firstWait: Duration = .seconds(1)
    /// The longest wait: a wearable that returns is found within five minutes.
    package static let longestWait: Duration = .minutes(5)
    /// A connection that lasted this long counts as stable: the waits start again at the first.
    package static let stableAfter: Duration = .seconds(60)

    package private(set) var state: LinkState
    private var backOff = BackOff(first: firstWait, longest: longestWait)
    private var generator: any RandomNumberGenerator & Sendable

    package init(at now: Timestamp, generator: any RandomNumberGenerator & Sendable) {
        self.state = LinkState(phase: .disabled, since: now)
        self.generator = generator
    }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .start, .woken:
            guard state.phase == .disabled || state.phase == .waiting else { return [] }
            return open(at: now)
        case .opened(let skew):
            state.clockSkew = skew
            state.attempts = 0
            state.lastError = nil
            return enter(.connected, at: now)
        case .ended(let error):
            let wasStable = state.phase == .connected && now - state.since >= Self.stableAfter
            if wasStable { backOff.reset() }
            state.lastError = error
            state.signalStrength = nil
            let actions = enter(.waiting, at: now)
            guard error != nil else { return actions + [.wait(.zero)] }
            return actions + [.wait(backOff.next(using: &generator))]
        case .reconnect:
            backOff.reset()
            switch state.phase {
            case .connected, .connecting: return [.close]
            case .waiting: return [.wait(.zero)]
            case .disabled: return []
            }
        case .signal(let strength):
            guard state.signalStrength != strength else { return [] }
            state.signalStrength = strength
            return [.publish(state)]
        case .stop:
            guard state.phase != .disabled else { return [] }
            state.signalStrength = nil
            return enter(.disabled, at: now)
        }
    }

    private mutating func open(at now: Timestamp) -> [Action] {
        state.attempts += 1
        return enter(.connecting, at: now) + [.open]
    }

    private mutating func enter(_ phase: LinkState.Phase, at now: Timestamp) -> [Action] {
        if state.phase != phase {
            state.phase = phase
            state.since = now
        }
        return [.publish(state)]
    }
}
