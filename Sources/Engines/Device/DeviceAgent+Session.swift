import GatewayKit
import Logging
import Vitals

extension DeviceAgent {
    /// Calls the device with a time limit. A device that does not answer, or whose link broke, loses its session.
    func call<Result: Sendable>(
        _ name: String, _ limit: Duration,
        _ operation: @escaping @Sendable () async throws(DeviceError) -> Result
    ) async throws(DeviceError) -> Result {
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
        let away = DeviceError(.disconnected, "The device is not connected.")
        guard let session else { throw away }
        let result: Swift.Result<Result, DeviceError> = await withCheckedContinuation { continuation in
            let work = SessionWork(
                run: { device in
                    do throws(DeviceError) {
                        continuation.resume(returning: .success(try await operation(device)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                },
                abandon: { continuation.resume(returning: .failure(away)) })
            switch session.work.yield(work) {
            case .enqueued: break
            case .dropped:
                continuation.resume(returning: .failure(DeviceError(.busy, "Too many commands are running.")))
            default: continuation.resume(returning: .failure(away))
            }
        }
        return try result.get()
    }

    /// Keeps changed parts of the state. A store that fails is said, and the part is kept with its next change.
    func keep(_ changes: [DeviceChange]) async {
        do throws(StoreError) { try await store.save(changes, of: id) } catch {
            logger.error("The device's state cannot be kept.", metadata: ["error": "\(error)"])
        }
    }

    /// The device gave a sign of life.
    func heard(at now: Timestamp) {
        lastSeen = now
        lastHeard = clock.uptime
        publishAvailability(always: false)
    }

    func publishAvailability(always: Bool) {
        let isOnline = lastSeen.map { clock.now - $0 < policy.offlineAfter } ?? false
        guard always || isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        publish(.availability(isOnline: isOnline))
    }
}
