import GRDB
import Vitals

/// One transaction, used by all requests that share a commit. It exists only on the store's executor.
final class Transaction {
    let database: Database
    /// The cache after all writes so far.
    var cache: WriterCache
    /// The new entries of the outbox, for delivery.
    private(set) var entries: [OutboxEntry] = []
    /// Whether so much is written at once that the journal would save nothing.
    let isBulk: Bool
    /// What this commit adds to the journal.
    var record = JournalRecord()
    var countersAreChanged = false
    var hasFolded = false

    init(_ database: Database, cache: consuming WriterCache, isBulk: Bool = false) throws {
        self.database = database
        self.cache = cache
        self.isBulk = isBulk
        if self.cache.journal.isUnread { try fold() }
    }

    // MARK: Numbers and lanes

    /// The next number of a fact. The fact counts as waiting in its lane.
    func nextSequence(in lane: Lane, samples: Int) -> Int64 {
        cache.counters.lastSequence += 1
        count(1, samples: samples, in: lane)
        return cache.counters.lastSequence
    }

    /// The next number of an answer.
    func nextAnswer() -> Int64 {
        cache.counters.lastAnswer += 1
        count(1, samples: 0, in: .answer)
        return cache.counters.lastAnswer
    }

    /// Adds to the bytes of stored answers (negative: answers were dropped).
    func countAnswer(bytes: Int64) {
        cache.counters.answerBytes += bytes
        countersAreChanged = true
    }

    /// Adds to the number of waiting messages (negative: messages no longer wait).
    func count(_ messages: Int64, samples: Int, in lane: Lane) {
        cache.counters.lanes[lane.rawValue].messages += messages
        cache.counters.lanes[lane.rawValue].samples += Int64(samples)
        countersAreChanged = true
    }

    func add(_ entry: OutboxEntry) { entries.append(entry) }

    /// Writes the values that change once per transaction, however many requests share it: with the record of the
    /// journal, or to their tables if the journal is empty afterwards. Runs last before the commit.
    func close() throws {
        guard countersAreChanged || record.hasContent else { return }
        if !cache.journal.isEmpty || record.hasContent || !(isBulk || hasFolded) {
            try appendRecord()
            if isJournalFull { try fold() }
        }
        if cache.journal.isEmpty { try cache.counters.save(in: database) }
    }

    /// Runs a statement that is prepared once and cached.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The number of rows that the last statement changed.
    var changes: Int { database.changesCount }
}
