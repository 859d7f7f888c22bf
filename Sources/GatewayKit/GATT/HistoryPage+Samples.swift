public import Vitals

extension HistoryPage {
    /// A page of samples that are all in memory. It is named by the start of its first sample, in milliseconds since 1970, so that it goes
    /// on where the one before ended, also when samples come in between.
    /// - Parameters:
    ///   - samples: those of the metric, ascending by their start. Of several with the same start, a page's end may skip the later ones.
    ///   - malformed: how many records were skipped.
    public init(of samples: [Sample], for request: HistoryRequest, malformed: Int) {
        let from = request.page.flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) } ?? request.from
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        let begin = samples.partition(notBefore: max(from, request.from))
        let found = samples[begin...].prefix { $0.start < request.to }
        let page = Array(found.prefix(limit))
        let next = page.count < found.count ? page.last.map { "\($0.start.milliseconds + 1)" } : nil
        self.init(samples: page, next: next, malformed: malformed)
    }
}

extension [Sample] {
    /// The index of the first sample that does not begin before a moment, in samples that ascend by their start.
    fileprivate func partition(notBefore moment: Timestamp) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].start < moment { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
