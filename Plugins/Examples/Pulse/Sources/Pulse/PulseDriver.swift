// docs/WritingAPlugin.md shows parts of this file as they are; PluginLists, in ArchitectureTests, compares them.
import GatewayKit
import Vitals

/// Speaks with a strap over a stream of bytes. The README describes its lines.
public struct PulseDriver: DeviceDriver {
    /// `driver: pulse`.
    public static let name = "pulse"
    /// A stream of bytes: TCP, a program, a serial line.
    public static let link = LinkKind.bytes

    let model: String

    /// Takes `model`. A key that is not asked for is reported to the user with its line.
    public init(options: inout ConfigurationReader) {
        model = options.string("model", default: "strap")
    }

    /// Reads and writes until `body` returns. When the link breaks, the events and all open calls end with an error, and
    /// `body` ends for that reason.
    public func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        guard case .bytes(let stream) = link else {
            throw DeviceError(.failure, "The driver pulse needs a transport that carries bytes, such as tcp or exec.")
        }
        let session = PulseSession(model: model)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await session.receive(from: stream, clock: context.clock) }
            group.addTask { await session.send(to: stream) }
            defer { group.cancelAll() }
            try await body(session)
        }
    }
}
