package import Logging

/// The outcome of a document's records.
public struct DocumentReport: Sendable, Hashable {
    /// The most different reasons that are listed; the records of all further ones are counted under `others`.
    public static let maximumReasons = 20
    /// The reason under which further ones are counted.
    public static let others = "other reasons"

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

    /// How many records had which outcome, for the log, which has no values.
    package var metadata: Logger.Metadata {
        [
            "new": "\(new)", "corrected": "\(corrected)", "known": "\(known)",
            "left_out": "\(superseded + skipped.values.reduce(0, +))", "refused": "\(refused.values.reduce(0, +))",
        ]
    }

    private static func count(_ reason: String, _ count: Int, in reasons: inout [String: Int]) {
        let isListed = reasons[reason] != nil || reasons.count < maximumReasons
        reasons[isListed ? reason : others, default: 0] += count
    }
}
