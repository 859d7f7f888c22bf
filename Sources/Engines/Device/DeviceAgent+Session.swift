import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Calls the device with a time limit. A device that does not answer, or whose link broke, loses its session.
    func call<Result: Sendable>(
        _ name: String, _ limit: Duration,
        _ operation: @escaping @Sendable () async throws(DeviceError) -> Result
    ) async throws(DeviceError) -> Result {
        if Task.isCancelled { throw DeviceError(.disconnected, "The session was closed.") }
        do {
            let result = try await withDeadline(limit, clock: clock, naming: name, operation)
            heard(at: clock.now)
            return result
        } catch {
            if error.code == .timeout || error.code == .disconnected { session?.end.open(.failed(error.message)) }
            throw error
        }
    }

    /// Runs an operation within the open session.
    /// - Throws: `disconnected` where there is none, or it ends first.
    func onSession<Result: Sendable>(
        _ operation: @escaping @Sendable (any DeviceSession) async throws(DeviceError) -> Result
    ) async throws(DeviceError) -> Result {
        let result: Swift.Result<Result, DeviceError> = await withCheckedContinuation { continuation in
            let work = SessionWork(
                run: { device in
                    do throws(DeviceError) {
                        continuation.resume(returning: .success(try await operation(device)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                },
                abandon: { continuation.resume(returning: .failure(Self.away)) })
            if let error = hand(over: work) { continuation.resume(returning: .failure(error)) }
        }
        return try result.get()
    }

    private static let away = DeviceError(.disconnected, "The device is not connected.")

    /// Lets work run within the open session. Returns why it does not, in which case neither of its parts is called.
    func hand(over work: SessionWork) -> DeviceError? {
        guard let session else { return Self.away }
        return switch session.work.yield(work) {
        case .enqueued: nil
        case .dropped: DeviceError(.busy, "Too many commands are running.")
        default: Self.away
        }
    }

    /// Answers a command: with `accepted`, or for good.
    func answer(_ key: String, _ answer: Answer) async {
        if case .terminated = answerSource.yield((key, answer)) { await output.answer(key, answer) }
    }

    /// Gives the answers as they come, until the agent has ended.
    func giveAnswers() async {
        for await (key, answer) in answers { await output.answer(key, answer) }
    }

    /// Keeps changed parts of the state. A store that fails is said, and the part is kept with its next change.
    func keep(_ changes: [DeviceChange]) async {
        do throws(StoreError) { try await store.save(changes, of: id) } catch {
            logger.error("The device's state cannot be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// Keeps when the device last gave a sign of life: now and then, and when its session is over.
    func keepLastSeen() async {
        guard let lastSeen, lastSeen != lastSeenSaved else { return }
        lastSeenSaved = lastSeen
        await keep([.lastSeen(lastSeen)])
    }

    /// The device gave a sign of life.
    func heard(at now: Timestamp) {
        lastSeen = now
        lastHeard = clock.uptime
        publishAvailability(always: false)
    }

    func publishAvailability(always: Bool) {
        // A clock that was set back must not leave the device online for as long.
        if let seen = lastSeen, seen > clock.now { lastSeen = clock.now }
        let isOnline = lastSeen.map { clock.now - $0 < policy.offlineAfter } ?? false
        guard always || isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        publish(.availability(isOnline: isOnline))
    }
}
