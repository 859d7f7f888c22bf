import GatewayKit
import Vitals

/// The records of a device's memory that were read in this session.
struct RecordHistory: Sendable {
    /// The most records in memory: the sequence numbers of a meter have no more. Further ones are not read, and counted.
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

    /// A page of what was read.
    mutating func page(_ request: HistoryRequest) -> HistoryPage {
        let malformed = request.page == nil ? refusals(request) : 0
        return HistoryPage(of: sorted[request.metric] ?? [], for: request, malformed: malformed)
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
