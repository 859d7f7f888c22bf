import GatewayKit
import Vitals

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
            let result = try await link.clock.withDeadline(limit, naming: name) {
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
