package import GatewayKit

/// A byte stream that shows its traffic to an audit.
package final class AuditedLink: ByteLink {
    private let link: any ByteLink
    private let audit: @Sendable ((inout LinkAudit) -> Void) -> Void

    /// Wraps the stream `link`. `audit` gives access to the audit, which several links may share.
    package init(_ link: any ByteLink, audit: @escaping @Sendable ((inout LinkAudit) -> Void) -> Void) {
        self.link = link
        self.audit = audit
    }

    package func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        let bytes = try await link.read(atMost: limit)
        audit { $0.received(bytes) }
        return bytes
    }

    package func write(_ bytes: [UInt8]) async throws(LinkError) {
        // Recorded first, as the answer may arrive before the write returns.
        audit { $0.sent(bytes) }
        try await link.write(bytes)
    }
}
