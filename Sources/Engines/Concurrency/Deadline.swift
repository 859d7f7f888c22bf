package import GatewayKit

/// Runs `operation` and gives it `limit` of time.
/// - Throws: what `operation` throws, or a `DeviceError` of code `timeout` that names it.
package func withDeadline<Result: Sendable>(
    _ limit: Duration, clock: GatewayClock, naming name: String,
    _ operation: @escaping @Sendable () async throws(DeviceError) -> Result
) async throws(DeviceError) -> Result {
    let outcome = await withTaskGroup(of: Swift.Result<Result, DeviceError>?.self) { group in
        group.addTask {
            do throws(DeviceError) { return .success(try await operation()) } catch { return .failure(error) }
        }
        group.addTask {
            // Cancelled when the operation is over.
            do { try await clock.sleep(for: limit) } catch { return nil }
            return .failure(
                DeviceError(.timeout, "The device did not answer \(name) within \(limit.configurationText)."))
        }
        defer { group.cancelAll() }
        while let result = await group.next() { if let result { return result } }
        return .failure(DeviceError(.disconnected, "The session was closed."))
    }
    return try outcome.get()
}
