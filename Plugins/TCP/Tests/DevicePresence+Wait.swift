import Concurrency
import GatewayKit

extension DevicePresence {
    /// Waits until the device is seen, or was seen since the last wait.
    func wait() async throws {
        let seen = Promise<Void>()
        whenSeen { seen.fulfil(()) }
        try await seen.wait()
    }
}
