import Concurrency
import GatewayKit
import Synchronization
import Vitals

@testable import Phones

/// Documents of a test, one after the other, and then the end of the session or of the link.
final class ScriptedDocuments: DocumentLink {
    private let documents = Mutex<[Document]>([])
    private let end = Promise<LinkError>()
    private let arrival = Signal()

    /// Sends a document. Returns it, for its answer.
    @discardableResult
    func send(_ text: String) -> Document {
        let document = Document(
            Array(text.utf8), mediaType: "application/json", receivedAt: Timestamp(seconds: 0))
        documents.withLock { $0.append(document) }
        arrival.wake()
        return document
    }

    /// Ends the link.
    func finish(_ error: LinkError = LinkError(.ended, "The phone has sent all.")) {
        end.fulfil(error)
        arrival.wake()
    }

    func next() async throws(LinkError) -> Document {
        while true {
            if let document = documents.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return document }
            if let error = end.value { throw error }
            if Task.isCancelled { throw LinkError(.cancelled, "The gateway has closed the link.") }
            await arrival.wait()
        }
    }
}
