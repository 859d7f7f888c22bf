package import Concurrency
import Foundation
public import Vitals

extension GatewayClock {
    /// The machine's clocks: its date, and a steady clock that keeps counting while the machine is suspended.
    public static var system: GatewayClock {
        let clock = ContinuousClock()
        let start = clock.now
        return GatewayClock(
            date: { Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))) },
            steady: clock,
            steadyNow: { start.duration(to: clock.now) })
    }

    /// Runs `operation`, and cancels it after `limit`. Returns its value, or `nil` if the time ran out first.
    package func withTimeout<Value: Sendable>(
        _ limit: Duration, _ operation: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await Concurrency.race(against: { try await self.sleep(for: limit) }, operation)
    }

    /// Runs `operation` of a device with a time limit.
    /// - Throws: what `operation` throws, or a `DeviceError` with code `timeout` that contains `name`.
    package func withDeadline<Value: Sendable>(
        _ limit: Duration, naming name: String,
        _ operation: @escaping @Sendable () async throws(DeviceError) -> Value
    ) async throws(DeviceError) -> Value {
        let outcome = await withTimeout(limit) { () async -> Result<Value, DeviceError> in
            do throws(DeviceError) { return .success(try await operation()) } catch { return .failure(error) }
        }
        guard let outcome else {
            throw DeviceError(.timeout, "The device did not answer \(name) within \(limit.configurationText).")
        }
        return try outcome.get()
    }
}

extension Timers {
    /// Timers on a gateway's steady clock.
    package convenience init(clock: GatewayClock) {
        self.init(uptime: { clock.uptime }, sleep: { try await clock.sleep(for: $0) })
    }
}
