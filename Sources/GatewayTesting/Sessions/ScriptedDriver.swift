package import GatewayKit
import Vitals

/// A driver that opens the sessions that a test hands out, one for each connection, and plays their measurements.
package struct ScriptedDriver: DeviceDriver {
    /// `scripted`.
    package static let name = "scripted"
    /// It needs none.
    package static let link = LinkKind.none

    private let open: @Sendable (SessionContext) async throws -> ScriptedSession

    /// A driver that asks `open` for each session; an error of it is a connection that fails.
    package init(open: @escaping @Sendable (SessionContext) async throws -> ScriptedSession) { self.open = open }

    /// A driver whose device is never there.
    package init(options: inout ConfigurationReader) {
        open = { context in throw DeviceError(.disconnected, "Nobody scripted a session for \(context.device).") }
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
