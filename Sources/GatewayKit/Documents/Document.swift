import Concurrency
import Synchronization
public import Vitals

/// A document of a device. Its driver answers it once, after all that it has is durable.
public final class Document: Sendable {
    /// The content.
    public let bytes: [UInt8]
    /// What it is, as the sender says: a type and a subtype in lower case, without parameters (RFC 9110, section 8.3.1).
    public let mediaType: String
    /// When all of it had arrived.
    public let receivedAt: Timestamp
    /// The message that it was, for a driver that takes messages itself; `nil` for others.
    package let message: DocumentMessage?
    private let result = Promise<DocumentAnswer>()
    private let dropped = Mutex<[SkippedValues]>([])
    /// An object that is released together with the document, such as its share of the memory.
    private let holding: (any AnyObject & Sendable)?
    private let onAnswer: (@Sendable (DocumentAnswer) -> Void)?

    /// A document.
    public convenience init(_ bytes: [UInt8], mediaType: String, receivedAt: Timestamp) {
        self.init(bytes, mediaType: mediaType, receivedAt: receivedAt, holding: nil)
    }

    /// A document that releases `holding` when it is released itself.
    /// - Parameter onAnswer: called with its answer.
    package init(
        _ bytes: [UInt8], mediaType: String, receivedAt: Timestamp, message: DocumentMessage? = nil,
        holding: (any AnyObject & Sendable)?, onAnswer: (@Sendable (DocumentAnswer) -> Void)? = nil
    ) {
        self.message = message
        self.onAnswer = onAnswer
        self.bytes = bytes
        self.mediaType = mediaType
        self.receivedAt = receivedAt
        self.holding = holding
    }

    /// The documents that were dropped before this one. Returns them once.
    package func takeDropped() -> [SkippedValues] {
        dropped.withLock { dropped in
            defer { dropped = [] }
            return dropped
        }
    }

    /// Lets the document say that others were dropped.
    func follow(_ others: [SkippedValues]) { dropped.withLock { $0 = others } }

    /// Answers the document. Only the first answer counts.
    public func answer(_ answer: DocumentAnswer) {
        if result.fulfil(answer) { onAnswer?(answer) }
    }

    /// Waits for the answer.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func answered() async throws(CancellationError) -> DocumentAnswer { try await result.wait() }
}

/// A driver's answer to a document.
public enum DocumentAnswer: Sendable, Hashable {
    /// All of it is durable, but for what the report says is refused or skipped. The device need not send it again.
    case stored(DocumentReport)
    /// It is not what the driver reads, for this reason: a sentence for a person. Sending it again does not help.
    case unreadable(String)
    /// The gateway could not finish, for this reason. Some of it may be durable; sending it again later stores the rest.
    case interrupted(String)
}

/// A device that sends whole documents when it likes, such as a phone that posts its new values, and wants an answer to each.
///
/// A session over such a link begins with a document, and ends when no further one has come for a while.
public protocol DocumentLink: Sendable {
    /// Waits for the next document. One task calls it at a time, after it has answered the document before.
    /// - Throws: a `LinkError` with `ended` when no document has come for a while; others if the link broke or was closed.
    func next() async throws(LinkError) -> Document
}
