import Concurrency
package import GatewayKit
package import Vitals

/// The open session as the agent's parts use it: each call has a time limit, and a timeout or a broken connection ends
/// the session.
struct DeviceChannel {
    let device: any DeviceSession
    let link: DeviceConnection

    var capabilities: Capabilities { device.description.capabilities }

    /// Calls the device.
    func call<Result: Sendable>(
        _ name: String, _ limit: Duration = DeviceTimeouts.call,
        _ operation: @escaping @Sendable (any DeviceSession) async throws(DeviceError) -> Result
    ) async throws(DeviceError) -> Result {
        if Task.isCancelled { throw DeviceError(.disconnected, "The session was closed.") }
        let device = device
        do {
            let result = try await withDeadline(limit, clock: link.clock, naming: name) {
                () async throws(DeviceError) in try await operation(device)
            }
            link.markSeen()
            return result
        } catch {
            if error.endsSession { link.end(.failed(error.message)) }
            throw error
        }
    }
}

extension DeviceError {
    /// Whether this error ends the session.
    var endsSession: Bool { code == .timeout || code == .disconnected }
}

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
