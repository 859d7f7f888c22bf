import Concurrency
import Contract
import Delivery
import Engines
import GatewayKit
import MQTT
import Vitals

extension GatewayCore {
    /// Handles a message from the broker. Nothing here waits for a device.
    func receive(_ message: InboundMessage) async {
        if discovery.receive(message) { return }
        switch codec.parse(message, at: settings.clock.now) {
        case .ignored: break
        case .rejected(let answer, let envelope, let republishesConfig):
            if republishesConfig, let device = envelope.device { retained.repeatConfig(of: device) }
            var envelope = envelope
            let answer = await known(envelope.device) ? answer : unknown(&envelope)
            await commandLog.reject(answer, envelope)
        case .device(let command, let envelope): await run(command, envelope)
        case .passkey(let passkey, let envelope): await enter(passkey, envelope)
        case .gateway(let command, let envelope):
            guard let key = await commandLog.begin(envelope) else { return }
            switch commands.offer((command, key)) {
            case .taken: break
            case .full: await commandLog.complete(key, CommandQueueRefusal.busy.answer)
            case .finished: await commandLog.complete(key, .stopping)
            }
        }
    }

    /// Answers a message that is not handled, as far as its envelope can be read.
    func refuse(_ message: InboundMessage, _ reason: CommandQueueRefusal) async {
        if !message.isCut, discovery.receive(message) { return }
        let envelope: CommandEnvelope
        switch codec.parse(message, at: settings.clock.now) {
        case .ignored: return
        case .rejected(_, let read, _), .device(_, let read), .gateway(_, let read), .passkey(_, let read):
            envelope = read
        }
        let isKnown = await known(envelope.device)
        var addressed = envelope
        let answer =
            isKnown
            ? reason.answer : unknown(&addressed)
        await commandLog.reject(answer, addressed)
    }

    /// Runs the gateway's own commands, each on its own. The receiver must not wait for them: the acknowledgements that
    /// a replay waits for arrive the same way. The command log limits their number.
    func serveCommands() async {
        await withDiscardingTaskGroup { group in
            await commands.forEach { command, key in
                group.addTask { await self.commandLog.complete(key, await self.run(command, key)) }
            }
        }
    }

    private func known(_ device: DeviceID?) async -> Bool {
        guard let device else { return true }
        return await supervisor[device] != nil
    }

    /// The answer for an unknown device. Such a device has no answer topic.
    private func unknown(_ envelope: inout CommandEnvelope) -> Answer {
        let name = envelope.device?.text ?? ""
        if envelope.responseTopic == nil { envelope.device = nil }
        return Answer(.rejected, code: .unknownDevice, message: "There is no device \(name); see gateway/info.")
    }

    private func run(_ command: DeviceCommand, _ envelope: CommandEnvelope) async {
        var envelope = envelope
        guard let device = envelope.device, let agent = await supervisor[device] else {
            let answer = unknown(&envelope)
            return await commandLog.reject(answer, envelope)
        }
        guard let key = await commandLog.begin(envelope) else { return }
        await agent.submit(
            CommandItem(
                command: command, key: key, expiresAt: envelope.expiresAt, name: envelope.id ?? command.name))
    }

    /// Hands a passkey to the transport that waits for it. The agent may consider the device offline, since it is being connected.
    private func enter(_ passkey: Passkey, _ envelope: CommandEnvelope) async {
        var envelope = envelope
        guard let device = envelope.device, await supervisor[device] != nil else {
            let answer = unknown(&envelope)
            return await commandLog.reject(answer, envelope)
        }
        guard let requests = await supervisor.passkeys(of: device) else {
            let message = "No passkey is asked for: its transport has not pairing: ask."
            return await commandLog.reject(Answer(.rejected, code: .unsupported, message: message), envelope)
        }
        guard let key = await commandLog.begin(envelope) else { return }
        let isTaken = requests.enter(passkey)
        await commandLog.complete(
            key,
            isTaken
                ? Answer(.done)
                : Answer(
                    .rejected, code: .conflict,
                    message:
                        "The device does not ask for a passkey now. Put it in its pairing mode, and wait for `passkey` in `pairing`."
                ))
    }

    private func run(_ command: GatewayCommand, _ key: String) async -> Answer {
        switch command {
        case .sync:
            await commandLog.complete(key, Answer(.accepted))
            return Answer(.done, data: .devices(await synchroniseAll()))
        case .replay(let numbers):
            return await replaying.withLock { await Replay(store: store, retained: retained).run(numbers) }
        case .rediscover:
            discovery.publishAll()
            retained.repeatAll()
            return Answer(.done)
        case .reload:
            do { return Answer(.done, data: .names(try await applyReload())) } catch {
                return Answer(
                    .failed, code: .invalid, message: "Nothing was changed. \(error)",
                    violations: (error as? ReloadRefusal)?.violations ?? [])
            }
        case .scan(let duration):
            return await settings.scanners.scan(for: duration, with: settings.services) {
                await self.supervisor.runs($0)
            }
        }
    }

    /// Synchronises every device, and returns the results, including those of absent devices.
    private func synchroniseAll() async -> [DeviceID: Answer] {
        let agents = await supervisor.agents
        return await withTaskGroup(of: (DeviceID, Answer).self) { group in
            for agent in agents { group.addTask { (agent.id, await agent.synchronise()) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }
}

extension CommandQueueRefusal {
    /// The answer to a command that does not run.
    fileprivate var answer: Answer {
        switch self {
        case .busy:
            Answer(.rejected, code: .busy, message: "Commands come faster than they are taken; send it again later.")
        case .stopping: .stopping
        }
    }
}

extension Answer {
    /// The answer to a command that comes while the gateway stops.
    fileprivate static let stopping = Answer(
        .failed, code: .offline, message: "The gateway stops; send it again later.")
}
