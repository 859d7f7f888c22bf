import Concurrency
import GatewayKit
import Synchronization
import Vitals

/// Detects when the gateway has read the history with which a session begins.
///
/// Until then late records wait: they would come before older ones that are still to be read, and
/// consumers get the history of a metric in order. A gateway reads one metric after the other, so a request for another one
/// shows that the one before is durable, as does its acknowledgement.
final class FirstReading: Sendable {
    private struct State {
        /// The metrics that are not durable yet.
        var unread: Set<Metric>
        /// Those of which the gateway has all pages.
        var given: Set<Metric> = []
        /// Calls so far.
        var calls = 0
    }
    private let state: Mutex<State>
    private let signal = Signal()

    /// How long a gateway may ask for nothing before it is taken to have read all that it wants.
    static let timeout: Duration = .minutes(1)

    init(_ metrics: [Metric]) { state = Mutex(State(unread: Set(metrics))) }

    /// Notes a request for a page.
    func noteRequest(of metric: Metric) {
        note { state in
            state.unread.subtract(state.given.subtracting([metric]))
        }
    }

    /// Notes the answer to it.
    func noteAnswer(_ page: HistoryPage, of metric: Metric) {
        note { state in
            if page.next == nil { state.given.insert(metric) }
            // There is nothing to make durable.
            if page.next == nil, page.samples.isEmpty { state.unread.remove(metric) }
        }
    }

    /// Notes that the records that were given are durable.
    func noteAcknowledgement(of metric: Metric) {
        note { state in
            if state.given.contains(metric) { state.unread.remove(metric) }
        }
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.calls += 1
        }
        signal.wake()
    }

    /// Waits until everything is durable, or nothing has been asked for a while.
    func wait(clock: GatewayClock) async throws {
        var calls = 0
        var until = clock.uptime + Self.timeout
        while true {
            let (isOver, now) = state.withLock { ($0.unread.isEmpty, $0.calls) }
            if now != calls { (calls, until) = (now, clock.uptime + Self.timeout) }
            let rest = until - clock.uptime
            guard !isOver, rest > .zero else { return }
            await clock.withTimeout(rest) { [signal] in await signal.wait() }
            try Task.checkCancellation()
        }
    }
}
