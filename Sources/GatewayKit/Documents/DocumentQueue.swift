import Concurrency
import Synchronization
package import Vitals

/// The documents of one device between the transport that receives them and the sessions of its driver.
package final class DocumentQueue: Sendable {
    /// The time without a document after which a session is over. Apps send several documents one after the other.
    package static let pause: Duration = .seconds(10)

    private struct State {
        var waiting: [Document] = []
        /// The document that the driver has.
        var taken: Document?
        /// Why no document is taken any more.
        var end: String?
        /// The documents that were dropped since the driver took one, by reason.
        var dropped: [String: SkippedValues] = [:]
    }
    private let state = Mutex(State())
    private let arrival = Signal()
    /// What the log has of the records that are not taken.
    package let reasons = DocumentReasons()

    /// An empty queue.
    package init() {}

    /// The number of documents that no driver has taken.
    package var count: Int { state.withLock { $0.waiting.count } }

    /// Adds a document, unless `limit` of them wait. Returns whether it was added. One that comes after the queue's end is answered.
    /// - Parameter isFirst: whether it comes before those that wait, as it came before them.
    package func add(_ document: Document, limit: Int = .max, isFirst: Bool = false) -> Bool {
        let (isAdded, end) = state.withLock { state -> (Bool, String?) in
            guard state.end == nil, state.waiting.count < limit else { return (false, state.end) }
            state.waiting.insert(document, at: isFirst ? 0 : state.waiting.count)
            return (true, nil)
        }
        if isAdded { arrival.wake() }
        if let end { document.answer(.interrupted(end)) }
        return isAdded
    }

    /// Notes a document that is dropped, so that the next one says so: no driver sees it, and so no state of the device.
    /// - Parameter limit: the limit that it was beyond.
    package func drop(_ reason: String, limit: Int) {
        state.withLock { state in
            let count = (state.dropped[reason]?.count ?? 0) + 1
            state.dropped[reason] = SkippedValues(reason: reason, what: "documents", count: count, limit: limit)
        }
    }

    /// Answers all documents that no driver has taken, and those that come from now on, with this reason.
    package func end(_ reason: String) {
        let waiting = state.withLock { state in
            defer { (state.waiting, state.end) = ([], reason) }
            return state.waiting
        }
        for document in waiting { document.answer(.interrupted(reason)) }
    }

    /// Takes back a document whose sender is gone, if no driver has taken it.
    package func remove(_ document: Document) {
        state.withLock { state in state.waiting.removeAll { $0 === document } }
    }

    /// Removes all documents that wait, which get no answer, and returns how many there were.
    package func discard() -> Int {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        return waiting.count
    }

    /// Waits for a document, and runs `body` with a link that ends when none has come for a while. Afterwards the document
    /// that is still without an answer gets one.
    /// - Parameter work: returns when the driver has work of its own, such as a file to read; the session then begins without a document.
    /// - Throws: what `body` throws; `LinkError` `cancelled` if the task is cancelled before a document comes.
    package func withSession(
        clock: GatewayClock, work: (@Sendable () async -> Void)? = nil,
        _ body: (any DocumentLink) async throws -> Void
    ) async throws {
        if let work {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.waitForDocument() }
                group.addTask { await work() }
                await group.next()
                group.cancelAll()
            }
        } else {
            await waitForDocument()
        }
        if Task.isCancelled, count == 0 {
            throw LinkError(.cancelled, "The gateway no longer waits for the device.")
        }
        defer {
            // It must not stay in memory until the next session.
            let unanswered = state.withLock { state in
                defer { state.taken = nil }
                return state.taken
            }
            unanswered?.answer(.interrupted("The device's session has ended; send it again later."))
        }
        try await body(Session(queue: self, clock: clock))
    }

    /// Waits until a document waits, or the task is cancelled.
    private func waitForDocument() async { while count == 0, !Task.isCancelled { await arrival.wait() } }

    private func dequeue() -> Document? {
        let (taken, dropped) = state.withLock { state -> (Document?, [String: SkippedValues]) in
            state.taken = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            guard state.taken != nil else { return (nil, [:]) }
            defer { state.dropped = [:] }
            return (state.taken, state.dropped)
        }
        taken?.follow(dropped.sorted { $0.key < $1.key }.map(\.value))
        return taken
    }

    private struct Session: DocumentLink {
        let queue: DocumentQueue
        let clock: GatewayClock

        func next() async throws(LinkError) -> Document {
            // The document before need not stay in memory. A driver that has not answered it never will.
            let before = queue.state.withLock { state in
                defer { state.taken = nil }
                return state.taken
            }
            before?.answer(.interrupted("The device's driver gave no answer; send it again later."))
            // A document that comes as the time is up is not lost: it is taken after the race.
            await clock.withTimeout(DocumentQueue.pause) {
                await queue.waitForDocument()
            }
            if Task.isCancelled { throw LinkError(.cancelled, "The gateway has closed the link.") }
            if let document = queue.dequeue() { return document }
            throw LinkError(.ended, "The device has sent all that it had to send.")
        }
    }
}
