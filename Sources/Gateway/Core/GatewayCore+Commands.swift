import Contract
import Engines
import GatewayKit
import MQTT
import Vitals

extension GatewayCore {
    /// Takes a message of the broker. Nothing here waits for a device.
    func receive(_ message: InboundMessage) async {
        if message.topic == wire.discovery.birthTopic { return homeAssistantChanged(message) }
        if wire.discovery.covers(message.topic) { return notice(message) }
        switch wire.parse(message, at: settings.clock.now) {
        case .ignored: break
        case .rejected(let answer, let envelope, let republishesConfig):
            if republishesConfig, let device = envelope.device { board.repeatConfig(of: device) }
            var envelope = envelope
            let answer = await known(envelope.device) ? answer : unknown(&envelope)
            await desk.reject(answer, envelope)
        case .device(let command, let envelope): await run(command, envelope)
        case .gateway(let command, let envelope):
            guard let key = await desk.begin(envelope) else { return }
            if case .terminated = commandSource.yield((command, key)) {
                await desk.finish(
                    key, Answer(.failed, code: .offline, message: "The gateway stops; send it again later."))
            }
        }
    }

    /// Runs the gateway's own commands, each on its own. Who receives them must not wait for them: the acknowledgements
    /// that a replay waits for come the same way. The desk bounds how many there are.
    func serveCommands() async {
        await withDiscardingTaskGroup { group in
            for await (command, key) in commands {
                group.addTask { await self.desk.finish(key, await self.run(command)) }
            }
        }
    }

    /// Home Assistant was started: everything is announced again, after a moment.
    private func homeAssistantChanged(_ message: InboundMessage) {
        if message.payload == Array("online".utf8) { births.wake() }
    }

    /// Notices discovery of ours that an earlier run left and that is not announced now.
    private func notice(_ message: InboundMessage) {
        guard wire.discovery.isStale(topic: message.topic, payload: message.payload, current: discovery.topics)
        else { return }
        discovery.found(message.topic)
    }

    /// Announces what is, once it is known what an earlier run announced, and takes that back.
    func sweepDiscovery() async {
        while !Task.isCancelled {
            await discovery.sweeps.wait()
            do {
                try await settings.clock.sleep(for: DiscoveryBoard.settling)
                if discovery.migrate(devices: await fleet.ids) {
                    try await settings.clock.sleep(for: DiscoveryBoard.settling)
                    discovery.emptyMigrated()
                }
                discovery.announceDue()
                try await settings.clock.sleep(for: DiscoveryBoard.settling)
            } catch { return }
            discovery.emptyOutdated()
        }
    }

    /// Announces everything again whenever Home Assistant was started.
    func welcomeHomeAssistant() async {
        while !Task.isCancelled {
            await births.wait()
            await discovery.publishAgain(settings.clock)
        }
    }

    private func known(_ device: DeviceID?) async -> Bool {
        guard let device else { return true }
        return await fleet[device] != nil
    }

    /// The answer for a device that does not exist. It has no topic of its own to be answered on.
    private func unknown(_ envelope: inout CommandEnvelope) -> Answer {
        let name = envelope.device?.text ?? ""
        if envelope.responseTopic == nil { envelope.device = nil }
        return Answer(.rejected, code: .unknownDevice, message: "There is no device \(name); see gateway/info.")
    }

    private func run(_ command: DeviceCommand, _ envelope: CommandEnvelope) async {
        var envelope = envelope
        guard let device = envelope.device, let agent = await fleet[device] else {
            let answer = unknown(&envelope)
            return await desk.reject(answer, envelope)
        }
        guard let key = await desk.begin(envelope) else { return }
        await agent.submit(
            CommandItem(
                command: command, key: key, expiresAt: envelope.expiresAt, name: envelope.id ?? command.name))
    }

    private func run(_ command: GatewayCommand) async -> Answer {
        switch command {
        case .sync:
            for agent in await fleet.agents { await agent.requestSync() }
            return Answer(.done)
        case .replay(let numbers): return await replaying.alone { await replay(numbers) }
        case .rediscover:
            discovery.publishAll()
            board.repeatAll()
            return Answer(.done)
        case .reload:
            do { return Answer(.done, data: .names(try await applyReload())) } catch {
                return Answer(
                    .failed, code: .invalid, message: "Nothing was changed. \(error)",
                    violations: (error as? ReloadRefusal)?.violations ?? [])
            }
        case .scan:
            return Answer(
                .rejected, code: .unsupported, message: "None of the transports can look for devices.")
        }
    }

    private func replay(_ numbers: ClosedRange<Int64>) async -> Answer {
        let page = 128
        var next = numbers.lowerBound
        var count = 0
        while next <= numbers.upperBound {
            let facts: [Fact]
            do throws(StoreError) {
                facts = try await store.facts(next...numbers.upperBound, limit: page)
            } catch {
                return Answer(.failed, code: .deviceError, message: "The store cannot be read: \(error.message)")
            }
            guard let last = facts.last else { break }
            for fact in facts {
                while !board.putOnce(.replay(fact)) {
                    guard board.isConnected, !Task.isCancelled else {
                        return Answer(
                            .failed, code: .offline, message: "The broker was lost; ask again.", data: .replayed(count))
                    }
                    await board.waitForRoom()
                }
                count += 1
            }
            next = last.sequence + 1
        }
        return Answer(.done, data: .replayed(count))
    }
}
