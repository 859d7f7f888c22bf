import Concurrency
import Exports
package import GatewayKit
import Synchronization
import Vitals

/// Reads the exports of the phone app Gadgetbridge. There is no link: the driver reads the file.
///
/// The export that was read last stays open between sessions.
package final class GadgetbridgeDriver: DeviceDriver {
    package static let name = "gadgetbridge"
    package static let link = LinkKind.none

    private let source: ExportSource

    package init(options: inout ConfigurationReader) {
        source = ExportSource(
            GadgetbridgeOptions(&options), reading: QueueExecutor(label: "gadgetbridge.reading"),
            opening: QueueExecutor(label: "gadgetbridge.opening"))
    }

    /// A driver whose blocking work runs on these executors.
    init(_ options: GadgetbridgeOptions, reading: any SerialExecutor, opening: any SerialExecutor) {
        source = ExportSource(options, reading: reading, opening: opening)
    }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(body) { body in
            try await context.services.with(ExportFolders.self) { folders in
                try await self.withSession(folders, context, body)
            }
        }
    }

    /// The watch of its folder.
    package var service: (any PluginService.Type)? { ExportFolders.self }

    private func withSession(
        _ folders: ExportFolders, _ context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let description: DeviceDescription
        do { description = try await source.prepare(context) } catch let error as ExportError {
            throw DeviceError(.failure, error.message)
        }
        let session = GadgetbridgeSession(source, description, folders, context)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.follow() }
            defer {
                session.close()
                group.cancelAll()
            }
            try await body(session)
        }
    }
}
