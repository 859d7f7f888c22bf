import Concurrency
package import GatewayKit
import Synchronization
package import Vitals

/// A device with scripted answers that records every call.
///
/// It answers from `content`, unless `behave` makes a call fail, hang or take time. Its events come from the test, and
/// from scripted measurements while `run` runs.
package final class ScriptedSession: DeviceSession {
    struct State {
        var content: Content
        var calls: [Call] = []
        var behaviour: @Sendable (Call) -> Behaviour = { _ in .answer }
        var running: (id: MeasurementID, metric: Metric)?
        var measurements = 0
        var end: DeviceError?
    }

    /// The treatment of a call.
    package enum Behaviour: Sendable {
        /// It is answered from the content.
        case answer
        /// It fails.
        case fail(DeviceError)
        /// It is answered after this time.
        case delay(Duration)
        /// It stays unanswered until it is cancelled or the session ends.
        case hang
    }

    /// The device's identity and capabilities.
    package let description: DeviceDescription
    let state: Mutex<State>
    let inbox = EventInbox()
    /// Fulfilled when the session ends: then hanging calls fail.
    private let over = Promise<Void>()
    let clock: GatewayClock
    /// The measurements that were started; one that was stopped meanwhile is not played.
    let starts = Mailbox<Start, Never>(capacity: .max)

    /// Creates a device with this description and content.
    /// - Parameter clock: the clock for delays and measurements.
    package init(_ description: DeviceDescription, content: Content = Content(), clock: GatewayClock = .system) {
        self.description = description
        self.clock = clock
        state = Mutex(State(content: content))
    }

    /// Every call, oldest first.
    package var calls: [Call] { state.withLock { $0.calls } }

    /// The device's present content.
    package var content: Content { state.withLock { $0.content } }

    /// Changes the device's content, as its own buttons would.
    package func change(_ change: (inout Content) -> Void) { state.withLock { change(&$0.content) } }

    /// Sets the treatment of calls from now on.
    package func behave(_ behaviour: @escaping @Sendable (Call) -> Behaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    /// Sends events, and returns when there is room for more.
    package func send(_ events: DeviceEvent...) async { await inbox.send(events) }

    /// Ends the session, as if the device were out of reach: hanging calls fail, and events end with an error.
    package func disconnect(_ error: DeviceError = DeviceError(.disconnected, "The device is out of reach.")) {
        state.withLock { state in if state.end == nil { state.end = error } }
        over.fulfil(())
        inbox.finish(error)
        starts.finish()
    }

    /// Ends the events normally, like a device that disconnects gracefully.
    package func finish() {
        inbox.finish()
        starts.finish()
    }

    /// Records a call and makes it fail, wait or pass.
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

    private func hang() async { _ = try? await over.wait() }
}
