import Dispatch
import Glibc
import Synchronization

/// Ends the process if its stop takes too long, from a queue that nothing else uses: whatever hangs cannot hold it up.
final class StopDeadline: Sendable {
    /// The signals that ask for a stop.
    static let signals = [SIGTERM, SIGINT]

    private let period: Duration
    private let begin: @Sendable () -> Void
    private let expire: @Sendable () -> Void
    private let isArmed = Atomic(false)
    private let hasEnded = Atomic(false)
    private let queue = DispatchQueue(label: "stop")

    /// - Parameters:
    ///   - period: how long a stop may take.
    ///   - begin: runs when the stop begins.
    ///   - expire: runs when the time is over.
    init(
        after period: Duration, begin: @escaping @Sendable () -> Void, expire: @escaping @Sendable () -> Void
    ) {
        self.period = period
        self.begin = begin
        self.expire = expire
    }

    /// The stop begins. Only the first call counts.
    func arm() {
        guard !isArmed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.asyncAfter(deadline: .now() + period.dispatchInterval) {
            if !self.hasEnded.load(ordering: .acquiring) { self.expire() }
        }
        begin()
    }

    /// The stop has ended in time.
    func end() { hasEnded.store(true, ordering: .releasing) }

    /// Arms it at each signal to stop, until the sources are released. The tasks' own handling of signals may hang.
    func armOnSignals() -> [any DispatchSourceSignal] {
        Self.signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            source.setEventHandler { self.arm() }
            source.resume()
            return source
        }
    }
}
