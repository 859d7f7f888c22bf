import Concurrency
package import GatewayKit
import Synchronization
package import Vitals

/// Reads the exports of a phone app. There is no link: the driver reads the file.
///
/// The export that was read last stays open between sessions.
package final class ExportDriver<Format: ExportFormat>: DeviceDriver {
    package static var name: String { Format.driver }
    package static var link: LinkKind { .none }

    private let source: ExportSource

    package init(options: inout ConfigurationReader) {
        let format = Format(&options)
        if options.value("path") != nil, format.place.isMissing { options.warn(format.place.absence, at: "path") }
        source = ExportSource(
            format, reading: QueueExecutor(label: "\(Format.driver).reading"),
            opening: QueueExecutor(label: "\(Format.driver).opening"))
    }

    /// A driver whose blocking work runs on these executors.
    package init(_ options: Format, reading: any SerialExecutor, opening: any SerialExecutor) {
        source = ExportSource(options, reading: reading, opening: opening)
    }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(body) { body in
            try await context.services.with(ExportFolders<Format>.self) { folders in
                try await self.withSession(folders, context, body)
            }
        }
    }

    package func examine(from: Timestamp?, context: SessionContext) async -> [Finding] {
        await source.examine(from: from, context)
    }

    /// The watch of its folder.
    package var service: (any PluginService.Type)? { ExportFolders<Format>.self }

    private func withSession(
        _ folders: ExportFolders<Format>, _ context: SessionContext,
        _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        let description: DeviceDescription
        do { description = try await source.prepare(context) } catch let error as ExportError {
            throw DeviceError(.failure, error.message)
        }
        let session = ExportSession(source, description, context)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await session.follow { body in
                    try await folders.follow(self.source.folder, clock: context.clock, body)
                }
            }
            defer {
                session.close()
                group.cancelAll()
            }
            try await body(session)
        }
    }
}
