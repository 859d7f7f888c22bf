import Vitals

/// The first record of a history page: a start, and the number of records with this start to skip. Its text is the
/// page's name.
struct HistoryPosition: Sendable, Hashable {
    /// The start of the page's first record.
    var start: Timestamp
    /// Records with this start that were on earlier pages.
    var skipped: Int

    /// The position of a request's first page.
    init(start: Timestamp, skipped: Int = 0) {
        self.start = start
        self.skipped = skipped
    }

    /// The position of a page's name, `nil` if the name is invalid.
    init?(_ text: String) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0]), let skipped = Int(parts[1]), skipped >= 0 else {
            return nil
        }
        self.init(start: Timestamp(milliseconds: start), skipped: skipped)
    }

    /// The page's name.
    var text: String { "\(start.milliseconds)+\(skipped)" }
}
