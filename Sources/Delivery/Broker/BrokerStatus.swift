package import Concurrency
package import MQTT
import Synchronization

/// The status of the broker connection, for `gateway/state`.
package final class BrokerStatus: Sendable {
    package struct Snapshot: Sendable, Hashable {
        /// The version of MQTT of the connection; `nil` while there is none.
        package var version: MQTTVersion?
        package var isConnected: Bool { version != nil }
        package var lastError: String?
        /// Messages that the broker refused, and commands that arrived faster than the gateway could take them.
        package var dropped = 0
    }
    private let state = Mutex(Snapshot())
    /// What the log says of the connection.
    private let notices = Mutex(Notices())
    /// Whether `gateway/status` says `online`.
    private let well = Mutex(true)
    /// The steps of the loop that connects; none is due while a connection is served.
    package let attempts = StepProbe()
    /// The turns of the task that sends.
    let sending = TurnProbe()
    /// The turns of the task that takes what the broker sends.
    let receiving = TurnProbe()
    /// The turns of the task that quarantines refused facts.
    package let quarantine = TurnProbe()

    package init() {}

    package var snapshot: Snapshot { state.withLock { $0 } }

    /// Returns when the tasks of the connection have taken a turn; at once if there is no connection, or nothing to do.
    /// - Parameter hasWork: whether something could be sent. A task that sends and rests although there is something to send
    ///   has missed its wake-up.
    package func answer(hasWork: @autoclosure () -> Bool = false) async {
        await sending.answer(whileIdle: hasWork())
        await receiving.answer()
    }

    /// Whether every part of the gateway itself answers, which is what `gateway/status` says.
    package var isWell: Bool { well.withLock { $0 } }

    /// Sets whether every part of the gateway itself answers. Returns whether this is new.
    package func change(isWell: Bool) -> Bool {
        well.withLock { well in
            defer { well = isWell }
            return well != isWell
        }
    }

    private struct Notices {
        /// The failures since the last connection that lasted.
        var failures = RepeatedNotice()
        /// Whether a connection is news: a failure was said since the last one.
        var isConnectionDue = true
        /// The ends of open connections within `cutPeriod`.
        var cuts: [Duration] = []
        /// What the log says of them.
        var fight = RepeatedNotice()
    }

    /// Open connections that the broker ended within `cutPeriod`, from which on another client may have the same id: each that
    /// connects ends the other's connection, for ever. A network that is bad ends them more seldom.
    static let suspiciousCuts = 5
    /// The time within which they count.
    static let cutPeriod: Duration = .seconds(60)

    /// Notes that the broker ended an open connection. Returns how often it did of late, if that is to be said.
    func cut(at uptime: Duration) -> Int? {
        notices.withLock { notices in
            notices.cuts.removeAll { uptime - $0 >= Self.cutPeriod }
            if notices.cuts.isEmpty { notices.fight = RepeatedNotice() }
            notices.cuts.append(uptime)
            guard notices.cuts.count >= Self.suspiciousCuts else { return nil }
            return notices.fight.isDue(at: uptime) ? notices.cuts.count : nil
        }
    }

    /// Notes a connection. Returns whether it is to be said: one that comes and goes is said as seldom as its ends.
    func connected(_ version: MQTTVersion) -> Bool {
        state.withLock { $0.version = version }
        return notices.withLock { notices in
            defer { notices.isConnectionDue = false }
            return notices.isConnectionDue
        }
    }

    /// Notes why there is no connection. Returns how often there was none since the last connection that lasted, and whether that
    /// is to be said.
    /// - Parameter hasLasted: whether it is the end of a connection that lasted.
    func failed(_ error: String, at uptime: Duration, hasLasted: Bool) -> (count: Int, isDue: Bool) {
        failed(error)
        return notices.withLock { notices in
            if hasLasted { notices.failures = RepeatedNotice() }
            let isDue = notices.failures.isDue(error, at: uptime)
            if isDue { notices.isConnectionDue = true }
            return (count: notices.failures.count, isDue: isDue)
        }
    }

    /// Notes an error of a connection that holds.
    func noted(_ error: String) { state.withLock { $0.lastError = error } }

    private func failed(_ error: String) {
        state.withLock { state in
            state.version = nil
            state.lastError = error
        }
    }
    package func dropped(_ count: Int = 1) { state.withLock { $0.dropped += count } }
}
