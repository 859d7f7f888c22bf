import GatewayKit
import Vitals

/// The records of a device's memory that were read in this session.
struct RecordHistory: Sendable {
    /// The most records in memory: the sequence numbers of a meter have no more.
    static let capacity = 65_536

    /// By their start: two records of one metric with the same start have the same id, and the later one counts.
    private var samples: [Metric: [Timestamp: Sample]] = [:]
    private var sorted: [Metric: [Sample]] = [:]
    private var refused: [UnreadableSample] = []
    /// Refused records without a time that pages have already reported.
    private var reported = 0

    /// Adds what a transfer brought.
    /// - Parameter isWhole: whether it brought all records, so that the earlier ones are forgotten.
    mutating func add(_ records: [StoredRecord], isWhole: Bool) {
        if isWhole { (samples, refused) = ([:], []) }
        for record in records {
            switch record {
            case .samples(let found):
                for sample in found { samples[sample.metric, default: [:]][sample.start] = sample }
            case .refused(let sample): if refused.count < Self.capacity { refused.append(sample) }
            case .none: break
            }
        }
        sorted = samples.mapValues { $0.values.sorted { $0.start < $1.start } }
    }

    /// A page: named by the start of its first sample, in milliseconds.
    mutating func page(_ request: HistoryRequest) -> HistoryPage {
        let from = request.page.flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) } ?? request.from
        let limit = min(max(request.limit, 1), HistoryRequest.maximumLimit)
        let all = sorted[request.metric] ?? []
        let begin = all.partition(notBefore: max(from, request.from))
        let found = all[begin...].prefix { $0.start < request.to }
        let page = Array(found.prefix(limit))
        let next = page.count < found.count ? page.last.map { "\($0.start.milliseconds + 1)" } : nil
        return HistoryPage(samples: page, next: next, malformed: request.page == nil ? refusals(request) : 0)
    }

    /// How many records of the request were refused. One without a time counts once.
    private mutating func refusals(_ request: HistoryRequest) -> Int {
        let own = refused.filter { $0.metric == request.metric }
        let timed = own.count { sample in sample.start.map { $0 >= request.from && $0 < request.to } ?? false }
        let untimed = own.count { $0.start == nil }
        defer { if !own.isEmpty { reported = max(reported, untimed) } }
        return timed + max(0, untimed - reported)
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
