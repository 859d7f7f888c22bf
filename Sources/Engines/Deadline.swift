import Concurrency
package import GatewayKit
package import Vitals

/// Runs `operation` with a time limit.
/// - Throws: what `operation` throws, or a `DeviceError` with code `timeout` that contains `name`.
package func withDeadline<Result: Sendable>(
    _ limit: Duration, clock: GatewayClock, naming name: String,
    _ operation: @escaping @Sendable () async throws(DeviceError) -> Result
) async throws(DeviceError) -> Result {
    let outcome = await clock.withTimeout(limit) { () async -> Swift.Result<Result, DeviceError> in
        do throws(DeviceError) { return .success(try await operation()) } catch { return .failure(error) }
    }
    guard let outcome else {
        throw DeviceError(.timeout, "The device did not answer \(name) within \(limit.configurationText).")
    }
    return try outcome.get()
}
