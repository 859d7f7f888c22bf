package import Concurrency
package import Vitals

extension GatewayClock {
    /// Runs `operation`, and cancels it after `limit`. Returns its value, or `nil` if the time ran out first.
    package func withTimeout<Value: Sendable>(
        _ limit: Duration, _ operation: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await Concurrency.race(against: { try await self.sleep(for: limit) }, operation)
    }
}

extension Timers {
    /// Timers on a gateway's steady clock.
    package convenience init(clock: GatewayClock) {
        self.init(uptime: { clock.uptime }, sleep: { try await clock.sleep(for: $0) })
    }
}
