import Concurrency

/// Tells the gateway that a device is there: it called, or its advertisement was heard. If the gateway waits for the next attempt to
/// connect it, it connects at once, but no sooner than a second after the last attempt.
public final class DevicePresence: Sendable {
    private let signal = Signal()

    /// A presence that nobody has noticed yet.
    public init() {}

    /// The device is there.
    public func notice() { signal.wake() }

    /// Waits until the device is noticed, was noticed since the last wait, or the task is cancelled.
    package func wait() async { await signal.wait() }
}
