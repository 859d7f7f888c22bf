import Concurrency
package import GatewayKit

/// For a phone that sends nothing, and of which only exported files are read: the session is always open.
package struct FileTransport: Transport {
    /// `type: file`.
    package static let name = "file"
    /// None ever comes.
    package static let link = LinkKind.documents
    /// The driver opens the file.
    package static let descriptors = 0

    /// It has no keys.
    package init(options: inout ConfigurationReader) {}

    /// Opens a link at once.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        try await body(.documents(NoDocuments()))
    }
}

/// A link of a device that sends no documents.
private struct NoDocuments: DocumentLink {
    func next() async throws(LinkError) -> Document {
        do throws(CancellationError) { return try await Promise<Document>().wait() } catch {
            throw LinkError(.cancelled, "The gateway has closed the link.")
        }
    }
}
