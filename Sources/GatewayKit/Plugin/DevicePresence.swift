import Synchronization

/// Reports to the gateway that a device is in reach: it called, or its advertisement was heard. If the gateway waits for the next attempt to
/// connect it, it connects at once, but no sooner than a second after the last attempt; if that one failed although the device was
/// seen, after waits that grow to fifteen seconds.
public final class DevicePresence: Sendable {
    private struct State {
        var action: (@Sendable () -> Void)?
        /// Whether the device was seen while no action was set.
        var isSeen = false
        /// What to do when the device is no longer served; `nil` before and afterwards.
        var onEnd: (@Sendable () -> Void)?
        var isOver = false
    }
    private let state = Mutex(State())

    /// A presence without an observer.
    public init() {}

    /// Reports that the device can be reached.
    public func sawDevice() {
        let action = state.withLock { state in
            defer { state.action = nil }
            if state.action == nil { state.isSeen = true }
            return state.action
        }
        action?()
    }

    /// Calls `action` once, when the device is seen: at once if it was seen since the last action was called. It takes
    /// the place of an earlier action.
    package func whenSeen(_ action: @escaping @Sendable () -> Void) {
        let (isSeen, earlier) = state.withLock { state in
            defer { (state.isSeen, state.action) = (false, state.isSeen ? nil : action) }
            return (state.isSeen, state.action)
        }
        withExtendedLifetime(earlier) {}
        if isSeen { action() }
    }

    /// The device is no longer served: it is not in the configuration any more, or has another transport.
    package func end() {
        let onEnd = state.withLock { state in
            defer { (state.isOver, state.onEnd) = (true, nil) }
            return state.onEnd
        }
        onEnd?()
    }

    /// Calls `action` once when the device is no longer served, at once if that is so already. It takes the place of an earlier
    /// action.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        let (isOver, earlier) = state.withLock { state in
            let earlier = state.onEnd
            if !state.isOver { state.onEnd = action }
            return (state.isOver, earlier)
        }
        withExtendedLifetime(earlier) {}
        if isOver { action() }
    }

    /// Takes the action back. A later report counts for the next one.
    package func ignore() {
        let earlier = state.withLock { state in
            defer { state.action = nil }
            return state.action
        }
        withExtendedLifetime(earlier) {}
    }
}
