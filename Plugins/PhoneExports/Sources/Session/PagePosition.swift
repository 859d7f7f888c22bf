import Vitals

/// Where a page begins: a start, and how many samples with that start were on the pages before.
struct PagePosition: Hashable {
    var start: Timestamp
    var skipped = 0

    init(start: Timestamp, skipped: Int = 0) {
        self.start = start
        self.skipped = skipped
    }

    /// `nil` for a name that is none of ours.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0]), let skipped = Int(parts[1]), skipped >= 0 else {
            return nil
        }
        self.init(start: Timestamp(milliseconds: start), skipped: skipped)
    }

    var text: String { "\(start.milliseconds).\(skipped)" }
}
