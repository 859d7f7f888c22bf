package import GatewayKit
import Synchronization
import Vitals

/// A device whose answers a test has written down, and which records every call.
///
/// It answers from `content`, unless `behave` says that a call fails, hangs or takes its time. Events are what the test
/// sends, and the samples of scripted measurements while `run` runs.
package final class ScriptedSession: DeviceSession {
    struct State {
        var content: Content
        var calls: [Call] = []
        var behaviour: @Sendable (Call) -> Behaviour = { _ in .answer }
        var running: (id: MeasurementID, metric: Metric)?
        var measurements = 0
        var end: DeviceError?
        var hanging: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextIdentifier: UInt64 = 0
    }

    /// What happens to a call.
    package enum Behaviour: Sendable {
        /// It is answered from the content.
        case answer
        /// It fails.
        case fail(DeviceError)
        /// It takes so much time, and is answered then.
        case delay(Duration)
        /// It is not answered before it is cancelled or the session ends.
        case hang
    }

    /// Who the device is and what it can do.
    package let description: DeviceDescription
    let state: Mutex<State>
    let inbox: EventInbox
    let clock: GatewayClock
    let starts: AsyncStream<Start>
    let started: AsyncStream<Start>.Continuation

    /// A device with this description and content.
    /// - Parameter clock: what delays and measurements are timed with.
    package init(
        _ description: DeviceDescription, content: Content = Content(), clock: GatewayClock = .system,
        inboxCapacity: Int = EventInbox.defaultCapacity
    ) {
        self.description = description
        self.clock = clock
        state = Mutex(State(content: content))
        inbox = EventInbox(capacity: inboxCapacity)
        // Only one measurement runs at a time, so that more than one start never waits here.
        (starts, started) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Everything that was called, oldest first.
    package var calls: [Call] { state.withLock { $0.calls } }

    /// What the device contains now.
    package var content: Content { state.withLock { $0.content } }

    /// Changes what the device contains, as its own buttons would.
    package func change(_ change: (inout Content) -> Void) { state.withLock { change(&$0.content) } }

    /// Says what happens to each call from now on.
    package func behave(_ behaviour: @escaping @Sendable (Call) -> Behaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    /// Sends events, and returns when there is room for more.
    package func send(_ events: DeviceEvent...) async { await inbox.send(events) }

    /// Ends the session, as if the device went out of reach: calls that hang fail, and events end with an error.
    package func disconnect(_ error: DeviceError = DeviceError(.disconnected, "The device is out of reach.")) {
        let hanging = state.withLock { state in
            if state.end == nil { state.end = error }
            defer { state.hanging = [:] }
            return state.hanging.values
        }
        for continuation in hanging { continuation.resume() }
        inbox.finish(error)
        started.finish()
    }

    /// Ends the events normally, as a device does that says goodbye.
    package func finish() {
        inbox.finish()
        started.finish()
    }

    /// Records a call and lets it fail, wait or pass.
    func receive(_ call: Call) async throws(DeviceError) {
        let (behaviour, end) = state.withLock { state in
            state.calls.append(call)
            return (state.behaviour(call), state.end)
        }
        if let end { throw end }
        switch behaviour {
        case .answer: return
        case .fail(let error): throw error
        case .delay(let time):
            do { try await clock.sleep(for: time) } catch { throw Self.closed }
        case .hang: await hang()
        }
        if let end = state.withLock({ $0.end }) { throw end }
        if case .hang = behaviour { throw Self.closed }
    }

    private static let closed = DeviceError(.disconnected, "The session was closed.")

    private func hang() async {
        let identifier = state.withLock { state in
            state.nextIdentifier += 1
            return state.nextIdentifier
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.end != nil { return true }
                    state.hanging[identifier] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.hanging.removeValue(forKey: identifier) }?.resume()
        }
    }
}
