import GRDB
import JSON
import Vitals

extension Transaction {
    /// The lanes of facts, in the order in which they are dropped.
    private static let evictionOrder: [Lane] = [.history, .live, .alert]

    /// Drops the oldest undelivered facts over the size limit and, with `byAge`, over the age limit, and replaces them
    /// by gaps. Returns the number of dropped facts.
    func evict(at moment: Timestamp, byAge: Bool, options: StoreOptions) throws -> Int {
        var rest = options.cleanLimit
        var losses = Losses(reason: .evicted)
        let oldest = moment - options.outboxMaximumAge
        for lane in Self.evictionOrder where byAge && rest > 0 {
            rest -= try evict(lane, madeBefore: oldest.milliseconds, limit: rest, into: &losses)
        }
        if outboxBytes > options.outboxMaximumBytes { try fold() }
        for lane in Self.evictionOrder {
            while rest > 0, outboxBytes > options.outboxMaximumBytes {
                // A few at a time, since each may free up to 200 samples of a message.
                let count = try evict(lane, madeBefore: .max, limit: min(rest, 50), into: &losses)
                if count == 0 { break }
                rest -= count
            }
        }
        for (device, gap) in losses.gaps(at: moment) { try publish(.gap(gap), in: .alert, of: device, at: moment) }
        return options.cleanLimit - rest
    }

    /// The size of undelivered facts with their samples, estimated by the constants of `StoreOptions`.
    private var outboxBytes: Int64 {
        cache.counters.lanes.reduce(0) {
            $0 + $1.messages * StoreOptions.messageBytes + $1.samples * StoreOptions.sampleBytes
        }
    }

    private func evict(_ lane: Lane, madeBefore: Int64, limit: Int, into losses: inout Losses) throws -> Int {
        let acknowledged = cache.counters.lanes[lane.rawValue].acknowledged
        // Only the lane's beginning is checked: the oldest facts have the lowest numbers.
        let statement = try database.cachedStatement(
            sql: """
                \(OutboxTable.selection) WHERE lane = ?1 AND sequence > ?2 AND made_at < ?3 AND sequence <= (
                    SELECT max(sequence) FROM (
                        SELECT sequence FROM message WHERE lane = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?4))
                ORDER BY sequence
                """)
        let rows = try Row.fetchAll(statement, arguments: [lane.rawValue, acknowledged, madeBefore, limit])
            .map { try OutboxRow($0) }
        for row in rows {
            try losses.add(row, in: database)
            try execute("DELETE FROM message WHERE lane = ? AND sequence = ?", [lane.rawValue, row.sequence])
            count(-1, samples: -row.samples, in: lane)
            try countDropped(max(1, row.samples), lane.name)
        }
        return rows.count
    }
}

/// The content of dropped facts, per device and metric.
struct Losses {
    let reason: Gap.Reason
    private struct Key: Hashable {
        var device: DeviceID
        var metric: Metric?
    }
    private var gaps: [Key: Gap] = [:]

    init(reason: Gap.Reason) { self.reason = reason }

    mutating func add(_ row: OutboxRow, in database: Database) throws {
        var lost = Gap(
            metric: row.metric, from: nil, to: nil, count: max(1, row.samples), reason: reason,
            at: Timestamp(milliseconds: 0))
        switch row.kind {
        case .measurement:
            let keys = try SampleKeys.unpack(row.body ?? [])
            lost.from = keys.map(\.start).min()
            lost.to = keys.map(\.end).max()
        case .alert, .lateAlert:
            let event = try AlertEvent(json: .kept(row.body))
            lost.metric = event.rule.metric
            lost.from = event.measuredAt
            lost.to = event.measuredAt
        case .gap:
            // A lost gap is merged into the new one. A gap of the device itself loses its reason in this.
            let gap = try Gap(json: .kept(row.body))
            lost.metric = gap.metric
            lost.from = gap.from
            lost.to = gap.to
            lost.count = gap.count
            lost.sequences = gap.sequences
        case .question: lost.metric = try Question(json: .kept(row.body)).metric
        case .day: break
        }
        lost.sequences.append(row.sequence...row.sequence)
        gaps[Key(device: row.device, metric: lost.metric), default: Gap.nothing(lost.metric, reason)].absorb(lost)
    }

    /// One gap per device and metric, in a fixed order.
    func gaps(at moment: Timestamp) -> [(DeviceID, Gap)] {
        gaps.sorted { ($0.key.device, $0.key.metric?.rawValue ?? "") < ($1.key.device, $1.key.metric?.rawValue ?? "") }
            .map { key, gap in
                var gap = gap
                gap.at = moment
                gap.sequences = gap.sequences.sorted { $0.lowerBound < $1.lowerBound }.coalesced
                return (key.device, gap)
            }
    }
}

extension Gap {
    fileprivate static func nothing(_ metric: Metric?, _ reason: Reason) -> Gap {
        Gap(metric: metric, from: nil, to: nil, count: 0, reason: reason, at: Timestamp(milliseconds: 0))
    }

    fileprivate mutating func absorb(_ other: Gap) {
        from = [from, other.from].compactMap { $0 }.min()
        to = [to, other.to].compactMap { $0 }.max()
        count = count.flatMap { count in other.count.map { count + $0 } }
        sequences += other.sequences
    }
}

extension [ClosedRange<Int64>] {
    /// Ascending ranges; adjacent ones are joined.
    var coalesced: [ClosedRange<Int64>] {
        reduce(into: []) { result, range in
            if let last = result.last, range.lowerBound <= last.upperBound + 1 {
                result[result.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
    }
}
