import GatewayKit
import Synchronization
import Vitals

extension DriverConformance {
    /// Turns of other tasks after which a call has surely begun and waits for the device.
    private static let turnsToBegin = 100

    /// Checks that, while a device is silent, each kind of call waits for it and ends as soon as it is cancelled: that
    /// is how the gateway enforces its time limits.
    func checkSilence() async -> [Violation] {
        await session(.silence, takesEvents: true) { session, peer, violations in
            guard let fallSilent = peer.fallSilent else { return }
            await fallSilent()
            violations.expectFailure()
            for operation in Operation.all(of: session.description) {
                let ending = await self.cancel {
                    await self.ending(of: operation, session)
                } after: {
                    for _ in 0..<Self.turnsToBegin { await Task.yield() }
                } orRelease: {
                    await peer.disconnect()
                }
                switch ending {
                case nil:
                    violations.add("\(operation.name) did not end when it was cancelled.")
                    return
                case .succeeded where operation.needsAnswer:
                    violations.add("\(operation.name) succeeded although the device said nothing.")
                default: break
                }
            }
            await peer.disconnect()
        }
    }

    /// Checks that each kind of call fails as disconnected when the link ends during the call.
    func checkInterruption() async -> [Violation] {
        var (violations, count) = await interrupt(0)
        for position in 1..<max(count, 1) { violations += await interrupt(position).violations }
        return violations
    }

    /// Interrupts the operation at a position, in its own session. Also returns the number of operations.
    private func interrupt(_ position: Int) async -> (violations: [Violation], count: Int) {
        let count = Mutex(0)
        let violations = await session(.interruption, takesEvents: true) { session, peer, violations in
            guard let fallSilent = peer.fallSilent else { return }
            let operations = Operation.all(of: session.description)
            count.withLock { $0 = operations.count }
            let operation = operations[position]
            await fallSilent()
            violations.expectFailure()
            async let ending = self.ending(of: operation, session)
            for _ in 0..<Self.turnsToBegin { await Task.yield() }
            await peer.disconnect()
            switch await ending {
            case .failed(.disconnected): break
            case .succeeded where !operation.needsAnswer: break
            case let ending:
                violations.add(
                    "\(operation.name) \(ending.text) when the link ended in its middle; it should throw disconnected.")
            }
            await self.expectEnd(of: EventReader(session, violations), violations)
            try await self.inTime("the graceful disconnect over a link that has ended") { await session.shutdown() }
        }
        return (violations, count.withLock { $0 })
    }

    /// How a call ended.
    private enum Ending: Sendable, Hashable {
        case succeeded
        case failed(DeviceError.Code)
        case threw(String)
        case late

        var text: String {
            switch self {
            case .succeeded: "succeeded"
            case .failed(let code): "threw \(code.rawValue)"
            case .threw(let error): "threw \(error)"
            case .late: "did not end"
            }
        }
    }

    /// Makes a call and waits for its end.
    private func ending(of operation: Operation, _ session: any DeviceSession) async -> Ending {
        do {
            return try await inTime(operation.name) {
                do {
                    try await operation.call(session)
                    return .succeeded
                } catch {
                    return (error as? DeviceError).map { .failed($0.code) } ?? .threw("\(error)")
                }
            }
        } catch {
            return .late
        }
    }

    /// Checks that a graceful disconnect is quick, reaches the device if the protocol has one, and ends the link if the
    /// device should end it.
    func checkShutdown() async -> [Violation] {
        await session(.shutdown, takesEvents: expectation.endsLink) { session, peer, violations in
            violations.expectFailure()
            if self.expectation.endsLink {
                try await self.shutDownToEnd(session, violations)
            } else {
                try await self.inTime("the graceful disconnect") { await session.shutdown() }
            }
            guard self.expectation.disconnectsGracefully else { return }
            await self.expectCall("a graceful disconnect", peer, violations) { $0.contains(.disconnect) }
        }
    }

    /// Disconnects gracefully, and reads until the device ends the link.
    private func shutDownToEnd(_ session: any DeviceSession, _ violations: Violations) async throws {
        let isAnswered = Mutex(false)
        let timeout = expectation.timeout
        let hasEnded = await clock.withTimeout(timeout) {
            async let end: Void = { while (try? await session.nextEvents()) != nil {} }()
            await session.shutdown()
            if !Task.isCancelled { isAnswered.withLock { $0 = true } }
            await end
            return !Task.isCancelled
        }
        if hasEnded == true { return }
        guard isAnswered.withLock({ $0 }) else {
            throw DeviceError(.timeout, "the graceful disconnect did not end within \(timeout).")
        }
        violations.add("the link was still open \(timeout) after the graceful disconnect.")
    }
}
