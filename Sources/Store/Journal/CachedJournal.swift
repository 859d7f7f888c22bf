import Vitals

/// The writer's copy of what is in the journal: enough to recognise a sample, and to count messages.
struct CachedJournal: Sendable {
    /// A message in the journal.
    struct Message: Sendable, Hashable {
        var sequence: Int64
        var samples: Int
        var madeAt: Int64
    }

    /// The number of records.
    private(set) var records = 0
    private(set) var sampleCount = 0
    private var samples: [Int64: [SampleKey: StoredSample]] = [:]
    /// The messages by lane, ascending.
    private(set) var messages = [[Message]](repeating: [], count: Lane.allCases.count)
    /// When the first of its samples was received.
    private(set) var since: Timestamp?
    /// Whether there are records that were not read yet, from before the store was opened or a failure.
    let isUnread: Bool

    init(isUnread: Bool = false) { self.isUnread = isUnread }

    var isEmpty: Bool { records == 0 && sampleCount == 0 && !isUnread }

    /// Whether there is anything that a reader would miss. A record may have counters alone.
    var hasContent: Bool { isUnread || sampleCount > 0 || messages.contains { !$0.isEmpty } }

    /// Whether samples of a series wait in the journal.
    func has(series: Int64) -> Bool { samples[series] != nil }

    func sample(_ key: SampleKey, series: Int64) -> StoredSample? { samples[series]?[key] }

    mutating func add(_ stored: StoredSample, series: Int64) {
        samples[series, default: [:]][SampleKey(stored.sample)] = stored
        sampleCount += 1
        since = min(since ?? stored.receivedAt, stored.receivedAt)
    }

    mutating func add(_ message: Message, in lane: Lane) { messages[lane.rawValue].append(message) }

    mutating func addRecord() { records += 1 }

    /// The number of messages in a range of numbers, and of their samples.
    func count(in lane: Lane, after: Int64, through: Int64) -> (messages: Int64, samples: Int) {
        var result: (messages: Int64, samples: Int) = (0, 0)
        for message in messages[lane.rawValue] where message.sequence > after && message.sequence <= through {
            result.messages += 1
            result.samples += message.samples
        }
        return result
    }
}

/// A summary of the last commit, so that readers need not wait for the writer.
struct CommitSummary: Sendable {
    var lanes: [CachedLane]
    /// When the oldest waiting message in the journal was made, by lane.
    var oldestJournaled: [Timestamp?]
    /// Whether there is anything in the journal that a reader of the tables would miss.
    var hasJournal: Bool
    var isJournalEmpty: Bool

    init(_ cache: WriterCache) {
        let journal = cache.journal
        lanes = cache.counters.lanes
        oldestJournaled = lanes.indices.map { journal.oldest(in: $0, after: cache.counters.lanes[$0].acknowledged) }
        hasJournal = journal.hasContent
        isJournalEmpty = journal.isEmpty
    }
}

extension CachedJournal {
    /// When the first message after a number was made. The messages ascend, so half of them is skipped at a time.
    fileprivate func oldest(in lane: Int, after number: Int64) -> Timestamp? {
        let messages = messages[lane]
        var (low, high) = (messages.startIndex, messages.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if messages[middle].sequence <= number { low = middle + 1 } else { high = middle }
        }
        return low < messages.endIndex ? Timestamp(milliseconds: messages[low].madeAt) : nil
    }
}
