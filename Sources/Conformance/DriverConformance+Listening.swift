import GatewayKit
import Vitals

extension DriverConformance {
    /// Reads unasked events of the device for a while.
    package func listen(for duration: Duration) async -> [Violation] {
        await session(.events) { _, _, _ in
            // The session reads the events in the background.
            try await self.clock.sleep(for: duration)
        }
    }
}
