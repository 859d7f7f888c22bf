import Synchronization
import Vitals

/// What was made of readings of the store, kept for a while: a page asks for it at each visit.
final class ReadingCache<Key: Hashable & Sendable, Content: Sendable>: Sendable {
    private struct Entry {
        var content: Content
        var readAt: Timestamp
    }
    private let entries = Mutex<[Key: Entry]>([:])
    private let age: Duration
    private let maximum: Int

    /// - Parameters:
    ///   - age: how long something is kept.
    ///   - maximum: how much a page needs. Four times as much is kept, for other pages and for devices that are gone.
    init(age: Duration, maximum: Int) {
        self.age = age
        self.maximum = maximum
    }

    /// All that was read last, also what is old.
    var contents: [Key: Content] { entries.withLock { $0.mapValues(\.content) } }

    // Their locks must not be inlined where a wait lies between them: Decision 165.
    /// What was read last; `nil` if it is missing, old, or of a time that is still to come.
    @inline(never)
    func content(of key: Key, at now: Timestamp) -> Content? {
        entries.withLock { entries in
            guard let entry = entries[key], entry.readAt <= now, now - entry.readAt < age else { return nil }
            return entry.content
        }
    }

    @inline(never)
    func store(_ content: Content, of key: Key, at now: Timestamp) {
        entries.withLock { entries in
            // Those of devices that are gone go with the others.
            if entries.count > 4 * maximum { entries = [:] }
            entries[key] = Entry(content: content, readAt: now)
        }
    }
}
