import Concurrency
import Contract
import Delivery
import Engines
import GatewayKit
import MQTT
import Vitals
import Web

extension GatewayCore {
    /// Delivers, and takes commands, until the task is cancelled.
    func deliver() async {
        await withDiscardingTaskGroup { group in
            // Commands outlive the connection that brought them.
            group.addTask {
                await self.commandQueue.serve(
                    run: { await self.receive($0) }, refuse: { await self.receive($0, refusal: .busy) })
            }
            await brokerLoop.run(generator: generator)
            group.cancelAll()
        }
        await commandQueue.end { await self.receive($0, refusal: .stopping) }
    }

    /// Takes a command of a caller in this process, and hands over each of its answers: `accepted` first where there is one, at last
    /// the final one. A command that was taken runs on if the caller leaves.
    func receive(_ message: InboundMessage, of caller: CommandCaller) async {
        let refusal: Answer? = stopping.value != nil ? .stopping : hasBegun.value == nil ? .starting : nil
        await receive(message, refusal: refusal, of: caller)
    }

    /// Handles a message from the broker, or of a caller. Nothing here waits for a device.
    /// - Parameter refusal: the answer to a command that is not run, as far as its envelope can be read.
    private func receive(_ message: InboundMessage, refusal: Answer? = nil, of caller: CommandCaller? = nil) async {
        if caller == nil, refusal == nil || !message.isCut, discovery.receive(message) { return }
        let incoming = parser.parse(
            topic: message.topic, payload: message.payload, payloadSize: message.payloadSize,
            isRetained: message.isRetained, responseTopic: message.responseTopic,
            correlation: message.correlationData, receivedAt: settings.clock.now)
        guard var envelope = incoming.envelope else { return }
        envelope.caller = caller
        var agent: DeviceAgent?
        if let device = envelope.device {
            agent = await supervisor[device]
            guard agent != nil else {
                if let refusal, caller != nil { return await commandLog.reject(refusal, envelope) }
                // Such a device has no answer topic.
                if envelope.responseTopic == nil, caller == nil { envelope.device = nil }
                let text = "There is no device \(device.text); see gateway/info."
                return await commandLog.reject(Answer(.rejected, code: .unknownDevice, message: text), envelope)
            }
        }
        if let refusal { return await commandLog.reject(refusal, envelope) }
        switch incoming {
        case .ignored: break
        case .rejected(let answer, _, let republishesConfig):
            if republishesConfig, let device = envelope.device { retained.repeatConfig(of: device) }
            await commandLog.reject(answer, envelope)
        case .device(let command, _):
            // The parser names the device of each of its commands.
            guard let agent, let key = await commandLog.begin(envelope) else { return }
            await agent.submit(
                CommandItem(
                    command: command, key: key, expiresAt: envelope.expiresAt, name: envelope.id ?? command.name))
        case .passkey(let passkey, _): await enter(passkey, envelope)
        case .gateway(let command, _):
            guard let key = await commandLog.begin(envelope) else { return }
            switch commands.offer((command, key)) {
            case .taken: break
            case .full: await commandLog.complete(key, .busy)
            case .closed: await commandLog.complete(key, .stopping)
            }
        }
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

    /// Hands a passkey to the transport that waits for it. The agent may consider the device offline, since it is being connected.
    private func enter(_ passkey: Passkey, _ envelope: CommandEnvelope) async {
        guard let device = envelope.device, let requests = await supervisor.passkeys(of: device) else {
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

extension Answer {
    /// The answer to a command in excess.
    fileprivate static let busy = Answer(
        .rejected, code: .busy, message: "Commands come faster than they are taken; send it again later.")

    /// The answer to a command that comes before the devices are served.
    fileprivate static let starting = Answer(
        .rejected, code: .busy, message: "The gateway starts; send it again in a moment.")

    /// The answer to a command that comes while the gateway stops.
    fileprivate static let stopping = Answer(
        .failed, code: .offline, message: "The gateway stops; send it again later.")
}

/// Takes the commands of the API and the pages: each is a message as MQTT would bring it, whose answers go to its caller.
struct CoreCommander: GatewayCommander {
    private let core: GatewayCore

    init(of core: GatewayCore) { self.core = core }

    func perform(
        _ name: String, of device: DeviceID?, arguments: [UInt8],
        answer: @escaping @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void
    ) async {
        // With a slash it would be no topic of a command, and have no answer.
        let name = name.filter { $0 != "/" }
        let topic: Topic =
            if let device {
                name == CommandParser.configuration ? .configSet(device) : .command(device, name)
            } else {
                .gatewayCommand(name)
            }
        let message = InboundMessage(topic: core.settings.topics.topic(topic), payload: arguments)
        await core.receive(message.cut(to: CommandLimits.payload), of: CommandCaller(answer))
    }
}
