package import GatewayKit
import Vitals

/// Takes the messages of a topic as documents of a device. A session begins with the first message, and ends when no further one
/// comes.
///
/// The broker has its acknowledgement when a message arrives, before the commit.
package struct MQTTTransport: Transport {
    /// `type: mqtt`.
    package static let name = "mqtt"
    /// Whole documents.
    package static let link = LinkKind.documents
    /// None: the gateway's own connection brings the messages.
    package static let descriptors = 0

    /// The device's topic.
    package let topics: [String]

    /// Reads `topic`.
    package init(options: inout ConfigurationReader) {
        topics = [options.string("topic", about: "The topic of the device's documents.")]
    }

    /// Waits for the device's first message.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        try await context.documents.withSession(clock: context.clock, work: context.work) { link in
            try await body(.documents(link))
        }
    }
}
