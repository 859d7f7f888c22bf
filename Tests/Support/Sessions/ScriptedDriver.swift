package import GatewayKit
import Vitals

/// A driver that opens a test's sessions, one per connection, and runs their scripted measurements.
package struct ScriptedDriver: DeviceDriver {
    /// `scripted`.
    package static let name = "scripted"
    /// No link.
    package static let link = LinkKind.none

    private let open: @Sendable (SessionContext) async throws -> ScriptedSession

    /// Creates a driver that gets each session from `open`; an error from `open` is a failed connection.
    package init(open: @escaping @Sendable (SessionContext) async throws -> ScriptedSession) { self.open = open }

    /// Creates a driver whose device is never available.
    package init(options: inout ConfigurationReader) {
        open = { context in throw DeviceError(.disconnected, "The test scripted no session for \(context.device).") }
    }

    /// Opens the next session.
    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let session = try await open(context)
        try await withThrowingTaskGroup { group in
            group.addTask { await session.run() }
            defer { group.cancelAll() }
            try await body(session)
        }
    }
}
