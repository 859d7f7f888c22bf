package import GatewayKit
import Listening
import Vitals

/// Takes the documents that a device posts to the gateway's own listener. A session begins with the first document, and ends when no
/// further one comes.
package struct HTTPTransport: PostTransport {
    /// `type: http`.
    package static let name = "http"
    /// Whole documents.
    package static let link = LinkKind.documents
    /// None of its own: the listener counts the connections.
    package static let descriptors = 0

    private let token: Secret

    /// Reads `token`.
    package init(options: inout ConfigurationReader) {
        let token = options.token("token", about: "The device's secret; required.")
        if token == nil, options.value("token") == nil {
            options.report("token is missing: the device's secret, as {file: PATH} or {env: NAME}.", at: "type")
        }
        self.token = token ?? Secret("")
    }

    /// Waits for the device's first document.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        try await withoutActuallyEscaping(body) { body in
            try await context.senders.withDocuments(
                of: context.device, token: Secret(SecretHash.of(token.value)), presence: context.presence,
                clock: context.clock, work: context.work
            ) { link in try await body(.documents(link)) }
        }
    }
}
