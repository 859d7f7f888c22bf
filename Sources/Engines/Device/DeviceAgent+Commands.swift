import GatewayKit
package import Vitals

/// A command on its way through a device's lane.
package struct CommandItem: Sendable {
    package var command: DeviceCommand
    /// Its key in the command log, under which it is answered.
    package var key: String
    package var expiresAt: Timestamp?
    /// What the consumer calls it, or its key.
    package var name: String

    package init(command: DeviceCommand, key: String, expiresAt: Timestamp?, name: String) {
        self.command = command
        self.key = key
        self.expiresAt = expiresAt
        self.name = name
    }
}

extension DeviceAgent {
    /// Puts a command into the device's lane, and returns at once. Its final answer comes in any case.
    package nonisolated func submit(_ item: CommandItem) async {
        switch commandSource.yield(item) {
        case .enqueued: break
        case .dropped:
            await output.answer(
                item.key,
                Answer(.rejected, code: .busy, message: "Too many commands wait for this device; try again later."))
        default:
            await output.answer(item.key, Answer(.failed, code: .offline, message: "The device was removed."))
        }
    }

    /// Serves commands, each on its own: one that takes its time does not hold up the next.
    func serveCommands() async {
        await withDiscardingTaskGroup { group in
            for await item in commands {
                guard commandCount < Self.maximumCommands else {
                    let message = "Too many commands are running on this device; try again later."
                    await output.answer(item.key, Answer(.rejected, code: .busy, message: message))
                    continue
                }
                commandCount += 1
                group.addTask {
                    await self.serve(item)
                    await self.served()
                }
            }
            // The agent ends: whatever still waits for the device is not going to be done.
            group.cancelAll()
        }
    }

    private func served() { commandCount -= 1 }

    private func serve(_ item: CommandItem) async {
        if let refusal = refusal(of: item.command) {
            return await output.answer(item.key, refusal)
        }
        if needsDevice(item.command), session == nil {
            guard let answer = await waitForDevice(until: item.expiresAt) else {
                return await perform(item)
            }
            return await output.answer(item.key, answer)
        }
        await perform(item)
    }

    /// Waits for a connection until the command expires. Returns the answer where none comes.
    private func waitForDevice(until expiry: Timestamp?) async -> Answer? {
        let offline = Answer(
            .failed, code: .offline, message: "The device is not connected. With expires_at the command waits for it.")
        guard let expiry else { return offline }
        let connected = connected
        let isConnected = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do { try await connected.wait() } catch { return false }
                return true
            }
            group.addTask { [clock] in
                try? await clock.sleep(for: max(.zero, expiry - clock.now))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if isConnected { return nil }
        if stopping.value != nil { return offline }
        return Answer(.expired, code: .expired, message: "The device did not come before the command expired.")
    }

    private func needsDevice(_ command: DeviceCommand) -> Bool {
        switch command {
        case .sync, .measure, .fetch, .time: true
        case .history(_, _, _, _, _, let syncsFirst), .daily(_, _, _, let syncsFirst): syncsFirst
        case .stopMeasuring, .reconnect, .configure: false
        }
    }

    /// What the device is known not to be able to do is refused at once.
    private func refusal(of command: DeviceCommand) -> Answer? {
        guard let capabilities = info.capabilities else { return nil }
        let missing: [Metric]
        switch command {
        case .sync(let metrics, _, _): missing = metrics.filter { !capabilities.supports(.history, $0) }
        case .measure(let metric, _): missing = capabilities.supports(.measure, metric) ? [] : [metric]
        case .fetch(let metrics): missing = metrics.filter { !capabilities.supports(.monitor, $0) }
        case .history(let metric, _, _, _, _, true), .daily(let metric, _, _, true):
            missing = capabilities.supports(.history, metric) ? [] : [metric]
        default: missing = []
        }
        guard !missing.isEmpty else { return nil }
        let names = missing.map(\.rawValue).joined(separator: ", ")
        return Answer(
            .rejected, code: .unsupported, message: "The device does not support \(command.name) of \(names).")
    }

    private func perform(_ item: CommandItem) async {
        switch item.command {
        case .sync(let metrics, let from, let to):
            await queue(SyncJob(name: item.name, metrics: metrics, from: from, to: to, commands: [item.key]))
        case .measure(let metric, let duration):
            await output.answer(item.key, Answer(.accepted))
            await perform(
                measurement.handle(.start(metric, duration: duration, origin: .command(item.key)), at: clock.now))
        case .stopMeasuring(let metric):
            await perform(measurement.handle(.stop(metric), at: clock.now))
            await output.answer(item.key, Answer(.done))
        case .fetch(let metrics): await output.answer(item.key, await fetch(metrics))
        case .time: await output.answer(item.key, await setTime())
        case .reconnect:
            reconnect()
            await output.answer(item.key, Answer(.done))
        case .configure(let patch, let ifVersion, let adopts):
            await output.answer(item.key, await configure(patch, ifVersion: ifVersion, adopts: adopts))
        case .history, .daily: await output.answer(item.key, await look(up: item))
        }
    }

    private func queue(_ job: SyncJob) async {
        if request(job) {
            for key in job.commands { await output.answer(key, Answer(.accepted)) }
        } else {
            let message = "Too many synchronisations wait for this device; try again later."
            for key in job.commands { await output.answer(key, Answer(.rejected, code: .busy, message: message)) }
        }
    }

    private func fetch(_ metrics: [Metric]) async -> Answer {
        do {
            try await onSession { device throws(DeviceError) in
                try await self.refreshMonitoring(of: device, metrics: metrics)
            }
        } catch {
            return Answer(error)
        }
        let wanted = metrics.isEmpty ? Metric.monitored : metrics
        let reported = MonitorSettings(twin.state.reported.values.filter { wanted.contains($0.key.metric) })
        return Answer(.done, data: .settings(reported))
    }

    private func setTime() async -> Answer {
        do {
            try await onSession { device throws(DeviceError) in try await self.setClock(of: device) }
        } catch {
            return Answer(error)
        }
        return Answer(.done, data: .clock(skew: connection.state.clockSkew))
    }
}
