import Concurrency
import GatewayKit
import Synchronization
import Vitals

extension ScriptedSession {
    /// Runs the scripted measurements until the session ends or the task is cancelled. Run it beside the tested code; a
    /// test that sends the samples itself does not need it.
    package func run() async {
        await withDiscardingTaskGroup { group in
            await starts.forEach { start in group.addTask { await self.play(start) } }
            group.cancelAll()
        }
    }

    private func play(_ start: Start) async {
        let begin = clock.uptime
        let end = start.script.end ?? (after: start.duration, error: nil)
        do {
            for (after, reading) in start.script.readings where after < end.after {
                try await clock.sleep(for: after - (clock.uptime - begin))
                guard isRunning(start.id) else { return }
                let sample = Sample(metric: start.metric, start: clock.now, isUserInitiated: true, reading: reading)
                await inbox.send([.measurementSample(start.id, sample)])
            }
            try await clock.sleep(for: end.after - (clock.uptime - begin))
        } catch {
            // The task is cancelled, so the rest has no receiver.
            return
        }
        await self.end(start.id, completed: end.error == nil, error: end.error)
    }

    private func isRunning(_ id: MeasurementID) -> Bool { state.withLock { $0.running?.id == id } }

    /// Ends a measurement once, and reports its end.
    func end(_ id: MeasurementID, completed: Bool, error: DeviceError?) async {
        let isFirst = state.withLock { state in
            guard state.running?.id == id else { return false }
            state.running = nil
            return true
        }
        if isFirst { await inbox.send([.measurementEnded(id, completed: completed, error: error)]) }
    }
}
