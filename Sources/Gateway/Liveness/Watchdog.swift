import Concurrency
import Dispatch
import Foundation
import Glibc
package import Logging
import Synchronization
package import Vitals

/// Watches the parts of the gateway from its own thread, which none of them can hold up, and reports what it
/// finds to the service manager, the log and the gateway's state.
///
/// The sign of life for the service manager's watchdog is sent only while every part of the gateway itself answers within its
/// limit. A plugin that hangs is named; ending all other devices would not help them.
package final class Watchdog: Sendable {
    /// The watch sends this many signs of life in the time that the service manager allows, so that a late one matters
    /// as little as a lost one.
    static let signsPerLimit = 4.0
    /// The time between two checks. It is shorter if the service manager wants signs of life more often.
    static let tick: Duration = .seconds(1)

    private struct State {
        var board: LivenessMachine
        /// When the stop began.
        var stop: Duration?
        var hasEnded = false
        var reported = Reported()
    }
    /// What the service manager has taken. What it does not take, because it is busy, is sent again by the next check.
    private struct Reported {
        var lastSign: Duration?
        var status: String?
        var isReady = false
        var isStopping = false
    }
    private let state: Mutex<State>
    private let probes: [LivenessPart: LivenessProbe]
    private let passing: PassingParts
    /// Runs the questions.
    private let launcher = TaskLauncher()
    private let notifier: ServiceNotifier?
    private let logger: Logger
    private let report: LivenessReport
    private let clock = SuspendingClock()
    private let start = SuspendingClock().now
    private let change = DispatchSemaphore(value: 0)

    /// A watch of these parts, and of those that come and go.
    package init(
        _ probes: [LivenessProbe], passing: PassingParts = PassingParts(), notifier: ServiceNotifier?,
        report: LivenessReport,
        logger: Logger
    ) {
        self.probes = Dictionary(probes.map { ($0.part, $0) }) { first, _ in first }
        self.passing = passing
        state = Mutex(State(board: LivenessMachine(limits: self.probes.mapValues(\.limit))))
        self.notifier = notifier
        self.report = report
        self.logger = logger
    }

    /// The parts that are late.
    package var late: [LivenessPart] { state.withLock { $0.board.late } }

    /// The parts that have not answered for longer than this, by name; `nil` if the watch itself takes no turn.
    package func waiting(longerThan time: Duration) -> [LivenessPart]? {
        let now = start.duration(to: clock.now)
        return state.withLock { $0.board.waiting(longerThan: time, at: now) }
    }

    /// The parts that have been slow since the stop began, which may be what holds it up.
    package var slow: [LivenessPart] {
        let now = start.duration(to: clock.now)
        return state.withLock { $0.board.slow(since: $0.stop ?? now, at: now) }
    }

    /// Reports to the service manager that the gateway stops. From then on there are no signs of life.
    package func stopping() {
        let now = start.duration(to: clock.now)
        let isFirst = state.withLock { state in
            guard state.stop == nil else { return false }
            state.stop = now
            return true
        }
        if isFirst { change.signal() }
    }

    /// Watches until the task is cancelled. A part that does not answer holds up the return.
    package func run() async {
        let tick = min(Self.tick, notifier?.watchdog.map { $0 / Self.signsPerLimit } ?? Self.tick)
        let thread = Thread {
            while self.check() { _ = self.change.wait(timeout: .now() + tick.dispatchInterval) }
        }
        thread.name = "watchdog"
        thread.start()
        await launcher.run()
        state.withLock { $0.hasEnded = true }
        change.signal()
    }

    private func ask(_ question: LivenessMachine.Question, by probe: LivenessProbe) {
        launcher.launch {
            await probe.ask()
            // The end of the watch ends also questions that have no answer.
            guard !Task.isCancelled else { return }
            let now = self.start.duration(to: self.clock.now)
            self.state.withLock { $0.board.answered(question, at: now) }
        }
    }

    /// Checks once, on the watch's thread. Returns `false` after the end.
    private func check() -> Bool {
        let now = start.duration(to: clock.now)
        let passing = Dictionary(passing.probes.map { ($0.part, $0) }) { first, _ in first }
        let (check, late, isOver) = state.withLock { state -> (LivenessMachine.Check, [LivenessPart], Bool) in
            let check = state.board.check(at: now, passing: passing.mapValues(\.limit))
            return (check, state.board.late, state.hasEnded)
        }
        if isOver {
            notifyStop()
            return false
        }
        for question in check.asked {
            if let probe = probes[question.part] ?? passing[question.part] { ask(question, by: probe) }
        }
        for (part, time) in check.fallen {
            logger.error(
                "A part of the gateway does not answer.",
                metadata: ["liveness.part": "\(part.name)", "liveness.seconds": "\(time.components.seconds)"])
        }
        for part in check.recovered {
            logger.notice("A part of the gateway answers again.", metadata: ["liveness.part": "\(part.name)"])
        }
        if !check.fallen.isEmpty || !check.recovered.isEmpty { report.late(late) }
        notify(at: now, late: late)
        return true
    }

    /// Sends the service manager what it has not taken yet, on the watch's thread.
    private func notify(at now: Duration, late: [LivenessPart]) {
        guard let notifier else { return }
        var (reported, isStopping, isComplete) = state.withLock { ($0.reported, $0.stop != nil, $0.board.isComplete) }
        guard !isStopping else { return notifyStop() }
        defer { state.withLock { $0.reported = reported } }
        let status = report.status(late)
        if !reported.isReady, report.hasBegun(), isComplete { reported.isReady = notifier.send("READY=1") }
        if reported.status != status, notifier.send("STATUS=\(status)") { reported.status = status }
        let isDue = notifier.watchdog.map { limit in
            reported.lastSign.map { now - $0 >= limit / Self.signsPerLimit } ?? true
        }
        if isDue ?? false, late.allSatisfy(\.isOptional), notifier.send("WATCHDOG=1") { reported.lastSign = now }
    }

    private func notifyStop() {
        let isDue = state.withLock { $0.stop != nil && !$0.reported.isStopping }
        guard isDue, let notifier, notifier.send("STOPPING=1", "STATUS=Stopping.") else { return }
        state.withLock { $0.reported.isStopping = true }
    }
}

/// The connections of a `Watchdog` with the gateway: its questions and its reports. Its members are called from the watch's thread
/// and must not wait.
package struct LivenessReport: Sendable {
    /// Whether the gateway serves its devices.
    package var hasBegun: @Sendable () -> Bool
    /// Takes the parts that are late, whenever they change.
    package var late: @Sendable ([LivenessPart]) -> Void
    /// One line for a person, with the parts that are late.
    package var status: @Sendable ([LivenessPart]) -> String

    package init(
        hasBegun: @escaping @Sendable () -> Bool, late: @escaping @Sendable ([LivenessPart]) -> Void,
        status: @escaping @Sendable ([LivenessPart]) -> String
    ) {
        self.hasBegun = hasBegun
        self.late = late
        self.status = status
    }
}

extension Duration {
    /// The same for Dispatch.
    var dispatchInterval: DispatchTimeInterval { .nanoseconds(Int(self / .nanoseconds(1))) }
}
