package import Logging

/// The outcome of a document's records.
public struct DocumentReport: Sendable, Hashable {
    /// The most different reasons that are listed; the records of all further ones are counted under `others`.
    public static let maximumReasons = 20
    /// The reason under which further ones are counted.
    public static let others = "other reasons"

    /// The most entries that are listed of those that count, and of the others: what is wrong with the first hundred says enough, and an
    /// answer stays below 100 KiB.
    public static let maximumEntries = 100

    /// What became of one entry of a document, for a driver that says it of each.
    public struct Entry: Sendable, Hashable {
        /// What became of it. The raw value is the name on the wire.
        public enum Outcome: String, Sendable, Hashable { case new, corrected, known, superseded, refused, skipped }
        /// Where it stands in the document, such as `samples[3]`, or the wrong member, `samples[3].unit`.
        public var path: String
        /// What became of it.
        public var outcome: Outcome
        /// Why it is refused or skipped, for a person.
        public var reason: String?

        /// An entry and what became of it.
        public init(path: String, _ outcome: Outcome, reason: String? = nil) {
            (self.path, self.outcome, self.reason) = (path, outcome, reason)
        }
    }

    /// Samples that were not known before.
    public var new = 0
    /// Samples that replaced others of the same time, with a higher revision.
    public var corrected = 0
    /// Samples that were known.
    public var known = 0
    /// Samples that do not count, as others of the same thing do, such as longer sleeps.
    public var superseded = 0
    /// Samples that are not plausible, by reason.
    public private(set) var refused: [String: Int] = [:]
    /// Records that are no sample of the gateway's, such as those of unknown kinds, by reason.
    public private(set) var skipped: [String: Int] = [:]

    /// What became of the first entries, in their order; empty for a driver that does not say it.
    public private(set) var entries: [Entry] = []
    /// How many further ones there are.
    public private(set) var furtherEntries = 0
    /// How many of the listed ones count.
    private var countedEntries = 0

    /// A report of no records.
    public init() {}

    /// Counts a settled sample.
    public mutating func count(_ outcome: SettledReceipt.Outcome) {
        switch outcome {
        case .new: new += 1
        case .corrected: corrected += 1
        case .known: known += 1
        case .superseded: superseded += 1
        case .refused(let error): Self.count(error.message, 1, in: &refused)
        }
    }

    /// Counts records that are skipped.
    public mutating func skip(_ reason: String, count: Int = 1) { Self.count(reason, count, in: &skipped) }

    /// Lists an entry, or counts it where as many of its kind are listed. It is counted by its outcome, too.
    public mutating func list(_ entry: Entry) {
        let counts = entry.reason == nil
        guard (counts ? countedEntries : entries.count - countedEntries) < Self.maximumEntries else {
            return furtherEntries += 1
        }
        entries.append(entry)
        if counts { countedEntries += 1 }
    }

    /// How many records had which outcome, for the log, which has no values.
    package var metadata: Logger.Metadata {
        [
            "new": "\(new)", "corrected": "\(corrected)", "known": "\(known)",
            "superseded": "\(superseded)", "skipped": "\(skipped.values.reduce(0, +))",
            "refused": "\(refused.values.reduce(0, +))",
        ]
    }

    private static func count(_ reason: String, _ count: Int, in reasons: inout [String: Int]) {
        let isListed = reasons[reason] != nil || reasons.count < maximumReasons
        reasons[isListed ? reason : others, default: 0] += count
    }
}
