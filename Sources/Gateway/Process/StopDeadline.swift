import Concurrency
import Dispatch
import Foundation
import Glibc
import Synchronization

/// Ends the process if its stop takes too long, from its own thread: what hangs once the stop has begun cannot hold it up.
///
/// The signal itself comes by Dispatch's one thread of timers and signals. If that one hangs already, no stop begins, and the limit of the
/// service manager (`TimeoutStopSec`) or its watchdog ends the process.
final class StopDeadline: Sendable {
    /// The signals that ask for a stop.
    static let signals = [SIGTERM, SIGINT]

    private let period: Duration
    private let begin: @Sendable () -> Void
    private let expire: @Sendable () -> Void
    /// The stop has begun.
    let begun = Promise<Void>()
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
        let seconds = period / .seconds(1)
        let thread = Thread {
            Thread.sleep(forTimeInterval: seconds)
            if !self.hasEnded.load(ordering: .acquiring) { self.expire() }
        }
        thread.name = "stop"
        thread.start()
        begun.fulfil(())
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
