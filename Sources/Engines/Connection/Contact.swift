package import Vitals

/// When the device last gave a sign of life, and whether it counts as online.
package struct Contact: Sendable, Hashable {
    /// Minimum time between two stored signs of life.
    package static let saveInterval: Duration = .minutes(5)

    /// The last sign of life, by the wall clock.
    package private(set) var lastSeen: Timestamp?
    /// The last sign of life, by the monotonic clock.
    package private(set) var lastHeard: Duration = .zero
    package private(set) var isOnline = false
    private var saved: Timestamp?
    private let offlineAfter: Duration

    /// - Parameter offlineAfter: silence after which the device counts as offline.
    package init(lastSeen: Timestamp? = nil, offlineAfter: Duration) {
        self.lastSeen = lastSeen
        saved = lastSeen
        self.offlineAfter = offlineAfter
    }

    /// Records a sign of life.
    package mutating func markSeen(at now: Timestamp, uptime: Duration) {
        lastSeen = now
        lastHeard = uptime
    }

    /// Does not count the time until now as silence: the gateway was not listening.
    package mutating func ignoreSilence(until uptime: Duration) { lastHeard = uptime }

    /// Updates whether the device is online. Returns whether that changed.
    package mutating func updateAvailability(at now: Timestamp) -> Bool {
        // After the clock was set back, a time in the future would keep the device online for too long.
        if let seen = lastSeen, seen > now { lastSeen = now }
        let wasOnline = isOnline
        isOnline = lastSeen.map { now - $0 < offlineAfter } ?? false
        return isOnline != wasOnline
    }

    /// When an online device counts as offline without a further sign of life.
    package var offlineAt: Timestamp? { isOnline ? lastSeen.map { $0 + offlineAfter } : nil }

    /// Returns the last sign of life if it is due to be stored: at intervals, or at any time with `isFinal`.
    package mutating func takeUnsaved(isFinal: Bool) -> Timestamp? {
        guard let lastSeen, lastSeen != saved else { return nil }
        // It is also due if the clock was set back.
        let isDue = saved.map { lastSeen - $0 >= Self.saveInterval || lastSeen < $0 } ?? true
        guard isDue || isFinal else { return nil }
        saved = lastSeen
        return lastSeen
    }
}
