import Foundation
public import GatewayKit
import Logging
public import Vitals

extension SessionContext {
    /// A session's context for tests: local days of Berlin, and a logger without output.
    public static func testing(_ device: DeviceID, clock: GatewayClock) -> SessionContext {
        SessionContext(
            device: device, gateway: (name: "test", version: "1"),
            calendar: LocalCalendar(identifier: "Europe/Berlin") ?? LocalCalendar(timeZone: .current), clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}
