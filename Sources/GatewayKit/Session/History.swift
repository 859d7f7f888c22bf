public import Vitals

/// Which part of a metric's history is wanted.
public struct HistoryRequest: Sendable, Hashable {
    /// The most samples that one page may have.
    public static let maximumLimit = 2_000

    /// The metric.
    public var metric: Metric
    /// Samples that start at or after it.
    public var from: Timestamp
    /// Samples that start before it.
    public var to: Timestamp
    /// The page, as the page before named it; `nil` for the first.
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
    /// The samples, ascending by start.
    public var samples: [Sample]
    /// What the next page is called, `nil` after the last.
    public var next: String?
    /// How many records of this page could not be understood and were left out.
    public var malformed: Int

    /// A page of history.
    public init(samples: [Sample], next: String? = nil, malformed: Int = 0) {
        self.samples = samples
        self.next = next
        self.malformed = malformed
    }
}
