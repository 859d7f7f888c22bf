import Concurrency
import GatewayKit
import Vitals

/// Commands that wait for a device, up to a maximum.
struct CommandQueue: Sendable {
    private let queue: WorkQueue<CommandItem>
    private let answer: @Sendable (_ key: String, Answer) async -> Void

    init(launcher: TaskLauncher, answer: @escaping @Sendable (_ key: String, Answer) async -> Void) {
        self.answer = answer
        queue = WorkQueue(capacity: DeviceAgent.maximumCommands, launcher: launcher)
    }

    /// Adds a command, which `take` takes in its turn, and returns at once. Answers it if there are too many.
    func submit(_ item: CommandItem, _ take: @escaping @Sendable (CommandItem) async -> Void) async {
        switch await queue.add(item, take) {
        case .taken: break
        case .full:
            let message = "Too many commands wait for this device; try again later."
            await answer(item.key, Answer(.rejected, code: .busy, message: message))
        case .closed: await answer(item.key, .gone)
        }
    }

    /// Takes no more commands.
    func close() { queue.close() }
}

/// Decides which commands run and when: how many at a time, and which of them wait for the device.
final class CommandLane {
    /// How long a waiting command waits before it reads the wall clock again, which may have been set.
    private static let longestWait: Duration = .minutes(1)

    private let context: DeviceContext
    private let profile: DeviceProfile
    private let projection: SharedProjection
    private let link: DeviceConnection
    let answers: AnswerQueue
    private var running = 0
    /// Fulfilled when commands may begin.
    private let opening = Promise<Void>()

    init(
        context: DeviceContext, profile: DeviceProfile, projection: SharedProjection, link: DeviceConnection,
        answers: AnswerQueue
    ) {
        self.context = context
        self.profile = profile
        self.projection = projection
        self.link = link
        self.answers = answers
    }

    /// Lets commands begin, once the device's state is known.
    func open() { opening.fulfil(()) }

    /// Whether a command may begin. If not, answers it.
    func admits(_ item: CommandItem) async -> Bool {
        let isOpen = (try? await opening.wait()) != nil
        if !isOpen || context.isStopping {
            await answers.send(item.key, .gone)
            return false
        }
        guard running < DeviceAgent.maximumCommands else {
            let message = "Too many commands are running on this device; try again later."
            await answers.send(item.key, Answer(.rejected, code: .busy, message: message))
            return false
        }
        return true
    }

    /// Counts a running command, until `end`: called once it has its answer, or another part will give it.
    func begin() { running += 1 }
    func end() { running -= 1 }

    /// Whether the device is connected and supports the command.
    func isReady(for command: DeviceCommand) -> Bool { link.session != nil && refusal(of: command) == nil }

    /// Waits until a command can run. Returns the answer if it cannot.
    func prepare(_ item: CommandItem) async -> Answer? {
        while true {
            if let refusal = refusal(of: item.command) { return refusal }
            guard item.command.needsDevice, link.session == nil else { return nil }
            if let answer = await waitForDevice(until: item.expiresAt) { return answer }
        }
    }

    /// The answer if the device is known not to support the command.
    private func refusal(of command: DeviceCommand) -> Answer? {
        guard let capabilities = profile.capabilities else { return nil }
        let highWater = projection.current.highWater
        return command.refusal(by: capabilities) { highWater[$0] != nil }
    }

    /// Waits for a connection until the command expires. Returns the answer if none comes.
    private func waitForDevice(until expiry: Timestamp?) async -> Answer? {
        guard let expiry else {
            let message = "The device is not connected. With expires_at the command waits for it."
            return Answer(.failed, code: .offline, message: message)
        }
        while link.session == nil {
            if context.isStopping || Task.isCancelled { return .gone }
            let left = expiry - context.clock.now
            guard left > .zero else {
                return Answer(.expired, code: .expired, message: "No connection came up before the command expired.")
            }
            let (connected, stopping) = (link.connected, context.stopping)
            await context.clock.withTimeout(min(left, Self.longestWait)) {
                _ = await race(against: { try await stopping.wait() }) { _ = try? await connected.wait() }
            }
        }
        return nil
    }
}
