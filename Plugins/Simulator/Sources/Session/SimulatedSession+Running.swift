import GatewayKit
import Vitals

/// The loops of a session. Each ends with its task.
extension SimulatedSession {
    /// The shortest sleep, so that setting the clock cannot make the loop spin.
    private static let shortestSleep = Duration.milliseconds(1)

    /// Sends live samples, alerts and changes of battery and wear when they are due.
    func sendLive() async throws {
        var feed = LiveFeed(from: device.use { [clock = context.clock] in $0.time(clock.now) })
        while true {
            let now = context.clock.now
            let (events, pause) = device.use { state in
                let moment = state.time(now)
                return (feed.due(at: moment, from: &state), feed.next(after: moment, &state) - moment)
            }
            if !events.isEmpty { await inbox.send(events) }
            try await context.clock.sleep(for: max(pause, Self.shortestSleep))
        }
    }

    /// Runs the requested measurements. It uses steady time, so that setting a clock does not stretch them.
    func carryOutMeasurements() async throws {
        while let (running, startedAt) = await nextMeasurement() {
            var seconds = 0
            while true {
                seconds += 1
                let due = min(.seconds(seconds), running.length)
                let pause = startedAt + due - context.clock.uptime
                if pause > .zero { try await context.clock.sleep(for: pause) }
                // A simulated sleep may end slightly early by rounding; its events are due all the same.
                let elapsed = max(context.clock.uptime - startedAt, due)
                let (events, isOver) = device.use { $0.proceed(with: running.id, after: elapsed) }
                if !events.isEmpty { await inbox.send(events) }
                if isOver { break }
                seconds = max(seconds, Int(elapsed.inMilliseconds / 1000))
            }
        }
    }

    /// Breaks the link after `time`, for the fault `disconnect_every`.
    func breakLink(after time: Duration) async throws {
        try await context.clock.sleep(for: time)
        let error = DeviceError(.disconnected, "The simulated link broke (fault disconnect_every).")
        close(error)
        throw error
    }
}
