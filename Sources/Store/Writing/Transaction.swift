import GRDB
import StoreAPI
import Vitals

/// One transaction, used by all requests that share a commit. It lives only on the store's executor.
final class Transaction {
    let database: Database
    /// The cache after all writes so far.
    var cache: WriterCache
    /// The new entries of the outbox, for delivery.
    private(set) var entries: [OutboxEntry] = []
    private var countersAreChanged = false

    init(_ database: Database, cache: WriterCache) {
        self.database = database
        self.cache = cache
    }

    // MARK: Numbers and lanes

    /// The next number of a fact. The fact counts as waiting in its lane.
    func nextSequence(in lane: Lane, samples: Int) -> Int64 {
        cache.lastSequence += 1
        countersAreChanged = true
        count(1, samples: samples, in: lane)
        return cache.lastSequence
    }

    /// The next number of an answer.
    func nextAnswer() -> Int64 {
        cache.lastAnswer += 1
        countersAreChanged = true
        count(1, samples: 0, in: .answer)
        return cache.lastAnswer
    }

    /// Adds to the bytes of stored answers (negative: answers were dropped).
    func countAnswer(bytes: Int64) {
        cache.answerBytes += bytes
        countersAreChanged = true
    }

    /// Adds to the number of waiting messages (negative: messages no longer wait).
    func count(_ messages: Int64, samples: Int, in lane: Lane) {
        cache.lanes[lane.rawValue].messages += messages
        cache.lanes[lane.rawValue].samples += Int64(samples)
        cache.lanes[lane.rawValue].isChanged = true
    }

    func add(_ entry: OutboxEntry) { entries.append(entry) }

    /// Writes the values that change once per transaction, however many requests share it. Runs last before the commit.
    func close() throws {
        if countersAreChanged {
            try execute(
                "UPDATE store SET last_sequence = ?, last_answer = ?, answer_bytes = ?",
                [cache.lastSequence, cache.lastAnswer, cache.answerBytes])
        }
        for lane in cache.lanes.indices where cache.lanes[lane].isChanged {
            let cached = cache.lanes[lane]
            try execute(
                "UPDATE lane SET acknowledged = ?, messages = ?, samples = ? WHERE lane = ?",
                [cached.acknowledged, cached.messages, cached.samples, lane])
            cache.lanes[lane].isChanged = false
        }
    }

    /// Runs a statement that is prepared once and cached.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The number of rows that the last statement changed.
    var changes: Int { database.changesCount }
}
