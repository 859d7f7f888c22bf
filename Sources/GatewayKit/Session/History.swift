public import Vitals

/// A request for a part of a metric's history.
public struct HistoryRequest: Sendable, Hashable {
    /// The most samples that one page may have.
    public static let maximumLimit = 2_000

    /// The metric.
    public var metric: Metric
    /// The earliest start of a sample, inclusive.
    public var from: Timestamp
    /// The latest start of a sample, exclusive.
    public var to: Timestamp
    /// The page, as named by `HistoryPage.next` of the page before; `nil` for the first.
    public var page: String?
    /// The most samples of the page, 1–2,000.
    public var limit: Int

    /// A request for a page of history.
    public init(metric: Metric, from: Timestamp, to: Timestamp, page: String? = nil, limit: Int = maximumLimit) {
        self.metric = metric
        self.from = from
        self.to = to
        self.page = page
        self.limit = limit
    }
}

/// A page of history.
public struct HistoryPage: Sendable, Hashable {
    /// The samples, ascending by start. The gateway refuses impossible ones and counts them by reason.
    public var samples: [Sample]
    /// The name of the next page, `nil` after the last.
    public var next: String?
    /// How many records of this page were skipped because they are malformed.
    public var malformed: Int

    /// A page of history.
    public init(samples: [Sample], next: String? = nil, malformed: Int = 0) {
        self.samples = samples
        self.next = next
        self.malformed = malformed
    }
}
