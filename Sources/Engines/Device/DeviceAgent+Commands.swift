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
        default: await output.answer(item.key, Self.gone)
        }
    }

    /// The answer where the agent ends, or has ended.
    static let gone = Answer(
        .failed, code: .offline, message: "The gateway stops, or the device was removed; send it again later.")

    /// The answer where no more synchronisations may wait.
    static let full = Answer(
        .rejected, code: .busy, message: "Too many synchronisations wait for this device; try again later.")

    /// Serves commands, each on its own: one that takes its time does not hold up the next. What has to keep the order
    /// in which they came is done before the next one is looked at, and does not wait for the device.
    func serveCommands() async {
        await withDiscardingTaskGroup { group in
            for await item in commands {
                guard stopping.value == nil else {
                    await answer(item.key, Self.gone)
                    continue
                }
                guard commandCount < Self.maximumCommands else {
                    let message = "Too many commands are running on this device; try again later."
                    await answer(item.key, Answer(.rejected, code: .busy, message: message))
                    continue
                }
                if await isServedInOrder(item) { continue }
                let change = await accept(item.command)
                commandCount += 1
                group.addTask {
                    await self.serve(item, after: change)
                    await self.served()
                }
            }
        }
    }

    private func served() { commandCount -= 1 }

    /// Starts and stops of measurements must not overtake each other.
    private func isServedInOrder(_ item: CommandItem) async -> Bool {
        switch item.command {
        case .measure(let metric, let duration):
            guard session != nil, refusal(of: item.command) == nil else { return false }
            await measure(metric, duration, for: item.key)
        case .stopMeasuring(let metric):
            await perform(measurement.handle(.stop(metric), at: clock.now))
            await answer(item.key, Answer(.done))
        default: return false
        }
        return true
    }

    /// Neither must changes of the monitoring: they are taken in here, and brought to the device later.
    private func accept(_ command: DeviceCommand) async -> ConfigureResult? {
        guard case .configure(let patch, let ifVersion, let adopts) = command else { return nil }
        return await accept(patch, ifVersion: ifVersion, adopts: adopts)
    }

    private func serve(_ item: CommandItem, after change: ConfigureResult?) async {
        while true {
            if let refusal = refusal(of: item.command) { return await answer(item.key, refusal) }
            guard needsDevice(item.command), session == nil else { break }
            if let answer = await waitForDevice(until: item.expiresAt) {
                return await self.answer(item.key, answer)
            }
        }
        switch change {
        case .answered(let answer): await self.answer(item.key, answer)
        case .accepted: await answer(item.key, await confirm())
        case nil: await perform(item)
        }
    }

    /// Waits for a connection until the command expires. Returns the answer where none comes.
    private func waitForDevice(until expiry: Timestamp?) async -> Answer? {
        let offline = Answer(
            .failed, code: .offline, message: "The device is not connected. With expires_at the command waits for it.")
        guard let expiry else { return offline }
        while session == nil {
            if stopping.value != nil || Task.isCancelled { return Self.gone }
            let left = expiry - clock.now
            guard left > .zero else {
                return Answer(.expired, code: .expired, message: "The device did not come before the command expired.")
            }
            await withTaskGroup(of: Void.self) { [connected, stopping, clock] group in
                group.addTask { _ = try? await connected.wait() }
                group.addTask { _ = try? await stopping.wait() }
                // Now and then the date is looked at again, which may have been set.
                group.addTask { try? await clock.sleep(for: min(left, Self.longestWait)) }
                await group.next()
                group.cancelAll()
            }
        }
        return nil
    }

    private static let longestWait: Duration = .minutes(1)

    private func needsDevice(_ command: DeviceCommand) -> Bool {
        switch command {
        case .sync, .measure, .fetch, .time: true
        case .history(_, _, _, _, _, let syncsFirst, _), .daily(_, _, _, let syncsFirst): syncsFirst
        case .stopMeasuring, .reconnect, .configure: false
        }
    }

    /// What the device is known not to be able to do is refused at once.
    private func refusal(of command: DeviceCommand) -> Answer? {
        guard let capabilities = info.capabilities else { return nil }
        let missing: [Metric]
        switch command {
        case .sync(let metrics, _, _): missing = metrics.filter { !capabilities.canSynchronise($0) }
        case .measure(let metric, _): missing = capabilities.supports(.measure, metric) ? [] : [metric]
        case .fetch(let metrics): missing = metrics.filter { !capabilities.supports(.monitor, $0) }
        case .history(let metric, _, _, _, _, true, _):
            missing = capabilities.supports(.history, metric) ? [] : [metric]
        case .daily(let metric, _, _, true): missing = capabilities.canSynchronise(metric) ? [] : [metric]
        case .history(let metric, _, _, _, _, false, _), .daily(let metric, _, _, false):
            // What the store has is answered, also where the device cannot do it any more.
            let isKnown = capabilities.supports(metric) || metric == .battery || ledger.highWater[metric] != nil
            missing = isKnown ? [] : [metric]
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
            let job = SyncJob(name: item.name, metrics: metrics, from: from, to: to, commands: [item.key])
            await queue(job, for: item.key)
        case .measure(let metric, let duration): await measure(metric, duration, for: item.key)
        case .fetch(let metrics): await answer(item.key, await fetch(metrics))
        case .time: await answer(item.key, await setTime())
        case .reconnect:
            reconnect()
            await answer(item.key, Answer(.done))
        case .history, .daily: await answer(item.key, await look(up: item))
        case .stopMeasuring, .configure: break  // served in order
        }
    }

    private func queue(_ job: SyncJob, for key: String) async {
        guard hasRoom(for: job) else { return await answer(key, Self.full) }
        // Said before the job can end.
        await answer(key, Answer(.accepted))
        guard session != nil else {
            return await answer(key, Answer(.failed, code: .offline, message: "The device was lost."))
        }
        if !request(job) { await answer(key, stopping.value == nil ? Self.full : Self.gone) }
    }

    private func fetch(_ metrics: [Metric]) async -> Answer {
        do {
            try await onSession { device throws(DeviceError) in
                try await self.refreshMonitoring(of: device, metrics: metrics)
            }
        } catch {
            return Answer(error)
        }
        let read = Metric.monitored.filter {
            metrics.isEmpty ? info.capabilities?.supports(.monitor, $0) ?? false : metrics.contains($0)
        }
        return Answer(.done, data: .settings(twin.state.reported, of: read))
    }

    private func setTime() async -> Answer {
        do {
            try await onSession { device throws(DeviceError) in try await self.setClock(of: device) }
        } catch {
            if error.code == .unsupported { return Answer(.rejected, code: .unsupported, message: error.message) }
            return Answer(error)
        }
        return Answer(.done, data: .clock(skew: connection.state.clockSkew))
    }
}
