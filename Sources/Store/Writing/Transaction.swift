import Engines
import GRDB
import Vitals

/// One transaction: what the requests that share a commit write with. It lives on the store's executor only.
final class Transaction {
    let database: Database
    /// The books as they are after what was written so far.
    var books: Books
    /// The facts that were made, for those who send them.
    private(set) var facts: [Fact] = []
    private var countersAreChanged = false

    init(_ database: Database, books: Books) {
        self.database = database
        self.books = books
    }

    // MARK: Numbers and lanes

    /// The next number of a fact, which counts as waiting in its lane.
    func nextSequence(in lane: Lane, samples: Int) -> Int64 {
        books.lastSequence += 1
        countersAreChanged = true
        count(1, samples: samples, in: lane)
        return books.lastSequence
    }

    /// The next number of an answer.
    func nextAnswer() -> Int64 {
        books.lastAnswer += 1
        countersAreChanged = true
        count(1, samples: 0, in: .answer)
        return books.lastAnswer
    }

    /// Counts bytes of answers that are kept (or dropped, where negative).
    func countAnswer(bytes: Int64) {
        books.answerBytes += bytes
        countersAreChanged = true
    }

    /// Counts messages that wait (or do not any more, where negative).
    func count(_ messages: Int64, samples: Int, in lane: Lane) {
        books.lanes[lane.rawValue].messages += messages
        books.lanes[lane.rawValue].samples += Int64(samples)
        books.lanes[lane.rawValue].isChanged = true
    }

    func add(_ fact: Fact) { facts.append(fact) }

    /// Writes what is written once per transaction however many requests share it. The last thing before the commit.
    func close() throws {
        if countersAreChanged {
            try execute(
                "UPDATE store SET last_sequence = ?, last_answer = ?, answer_bytes = ?",
                [books.lastSequence, books.lastAnswer, books.answerBytes])
        }
        for lane in books.lanes.indices where books.lanes[lane].isChanged {
            let book = books.lanes[lane]
            try execute(
                "UPDATE lane SET acknowledged = ?, messages = ?, samples = ? WHERE lane = ?",
                [book.acknowledged, book.messages, book.samples, lane])
            books.lanes[lane].isChanged = false
        }
    }

    /// Runs a statement that is prepared once.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Rows that the last statement changed.
    var changes: Int { database.changesCount }
}
