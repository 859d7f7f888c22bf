import Concurrency
import Vitals

/// Decides when an adapter begins and ends to scan, and what to do if it hears nothing.
struct ScanWatch: Sendable {
    /// The next step.
    enum Action: Sendable, Hashable { case none, start, stop, restart, powerCycle }

    /// The known state of the adapter.
    struct Situation: Sendable {
        /// Whether a device is waited for.
        var isWanted: Bool
        var isPowered: Bool
        /// Whether the adapter says that it scans.
        var isDiscovering: Bool
        /// Whether devices are connected, which switching the adapter off would disconnect.
        var hasLinks: Bool
    }

    /// How long the adapter may take to say that it scans.
    static let startTime: Duration = .seconds(10)
    /// The first wait after a scan that could not be started; each further one is twice as long.
    static let firstWait: Duration = .seconds(1)
    /// The longest of these waits: an adapter that does not scan costs little.
    static let longestWait: Duration = .minutes(1)
    /// The longest wait between two restarts of an adapter that does not begin to scan. They double, since switching it off disturbs
    /// other programs.
    static let longestStartTime: Duration = .minutes(10)
    /// The failures in a row to start the scan after which the adapter is switched off and on: some adapters hang and still answer.
    static let failuresBeforePowerCycle = 3

    /// How long the adapter may hear no device at all.
    let silence: Duration
    /// Whether the gateway has begun to scan.
    private(set) var isOurs = false
    private var since: Duration = .zero
    private var heardAt: Duration = .zero
    /// How often it was restarted since a device was heard.
    private var restarts = 0
    /// How often the scan could not be started, in a row.
    private var failures = 0
    private var notBefore: Duration = .zero
    private var backOff = BackOff(first: firstWait, longest: longestWait)

    init(silence: Duration) { self.silence = silence }

    /// The next step, and the latest time for the next question.
    func next(_ situation: Situation, at now: Duration) -> (Action, Duration?) {
        guard situation.isPowered else { return (.none, nil) }
        guard situation.isWanted || isOurs else { return (.none, nil) }
        if now < notBefore { return (.none, notBefore) }
        guard situation.isWanted else { return (.stop, nil) }
        guard isOurs else {
            return (failures >= Self.failuresBeforePowerCycle && !situation.hasLinks ? .powerCycle : .start, nil)
        }
        let silent = max(since, heardAt) + silence
        let due = situation.isDiscovering ? silent : min(silent, since + startTime)
        if now < due { return (.none, due) }
        return (restarts > 0 && !situation.hasLinks ? .powerCycle : .restart, nil)
    }

    /// How long the adapter may take this time.
    private var startTime: Duration { min(Self.startTime * (1 << min(restarts, 10)), Self.longestStartTime) }

    /// A device was heard.
    mutating func markSeen(at now: Duration) {
        heardAt = now
        restarts = 0
    }

    /// The scan has begun.
    mutating func started(at now: Duration) {
        (isOurs, since, failures) = (true, now, 0)
        backOff.reset()
    }

    /// The scan has begun again, because nothing was heard.
    mutating func restarted(at now: Duration) {
        restarts += 1
        started(at: now)
    }

    /// The scan has ended.
    mutating func stopped() { isOurs = false }

    /// The adapter is switched off and on.
    mutating func powerCycled() { failures = 0 }

    /// The scan could not be ended, and may still run.
    mutating func stopFailed(at now: Duration, using generator: inout some RandomNumberGenerator) {
        notBefore = now + backOff.next(using: &generator)
    }

    /// The scan could not be started.
    mutating func failed(at now: Duration, using generator: inout some RandomNumberGenerator) {
        isOurs = false
        failures += 1
        notBefore = now + backOff.next(using: &generator)
    }
}
