import Concurrency
import GatewayKit

extension DevicePresence {
    /// Waits until the device is noticed, or was noticed since the last wait.
    func wait() async throws {
        let noticed = Promise<Void>()
        whenNoticed { noticed.fulfil(()) }
        try await noticed.wait()
    }
}
