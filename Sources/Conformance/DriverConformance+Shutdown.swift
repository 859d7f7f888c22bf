import GatewayKit
import Synchronization
import Vitals

extension DriverConformance {
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
