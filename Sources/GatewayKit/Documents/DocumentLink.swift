/// A device that sends whole documents when it likes, such as a phone that posts its new values, and wants an answer to each.
///
/// A session over such a link begins with a document, and ends when no further one has come for a while.
public protocol DocumentLink: Sendable {
    /// Waits for the next document. One task calls it at a time, after it has answered the document before.
    /// - Throws: a `LinkError` with `ended` when no document has come for a while; others if the link broke or was closed.
    func next() async throws(LinkError) -> Document
}
