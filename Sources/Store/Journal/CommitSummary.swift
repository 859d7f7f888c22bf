import Vitals

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
