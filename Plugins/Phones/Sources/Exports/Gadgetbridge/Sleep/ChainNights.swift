import Vitals

/// Nights without a table of whole sleeps: rows that follow each other without a long pause.
struct ChainNights: NightFeed {
    let table: String
    let rank: Rank
    let length: StageLength
    /// The pause that ends a night.
    let pause: Duration
    /// The rows of sleep in a range of TIMESTAMP, ascending.
    let rows: @Sendable (ExportRange) throws(ExportError) -> () throws(ExportError) -> StageRow?

    /// How far rows are read beyond a range: a night that begins in it is known as such only from what is before it, and is read to
    /// its end.
    static let margin = NightLimits.night + NightLimits.stage

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] { try nights(reading, beside: []) }

    /// - Parameter reported: the bounds of the nights, ascending, that a table of whole sleeps gives. Their rows are in no chain, and end
    ///   one.
    func nights(_ reading: ExportRange, beside reported: [Range<Timestamp>]) throws(ExportError) -> [Sample] {
        let next = try rows(reading.ranging(reading.from - Self.margin, reading.to + Self.margin))
        var nights: [Sample] = []
        var chain: [StageRow] = []
        var isTooLong = false
        /// The end of the reported nights before the chain, and those after it.
        var lastEnd: Timestamp?
        var ahead = reported[...]
        func completeNight() {
            defer { (chain, isTooLong) = ([], false) }
            guard let first = chain.first else { return }
            guard !isTooLong else { return reading.skip(.tooLong, in: table, at: first.moment) }
            let stages = length.stages(of: chain)
            guard let start = stages.first?.start, let end = stages.last?.end, stages.contains(where: \.isAsleep) else {
                // Asleep, and nothing says how long.
                if chain.contains(where: \.isAsleep) { reading.skip(.incomplete, in: table, at: first.moment) }
                return
            }
            // The bounds of a night are the wearable's word: what only goes on beyond them is no sleep of its own.
            if let lastEnd, start - lastEnd <= NightLimits.seam {
                return reading.skip(.incomplete, in: table, at: first.moment)
            }
            if let following = ahead.first, following.lowerBound - end <= NightLimits.seam {
                return reading.skip(.incomplete, in: table, at: first.moment)
            }
            guard start >= reading.from, start < reading.to else { return }
            nights.append(Sample(metric: .sleep, start: start, end: end, reading: .sleep(Sleep(stages: stages))))
        }
        each: while let row = try next() {
            if let last = chain.last, isOver(last, before: row) { completeNight() }
            while let night = ahead.first, row.moment >= night.lowerBound {
                completeNight()
                guard row.moment >= length.firstAfter(night.upperBound) else { continue each }
                lastEnd = max(lastEnd ?? night.upperBound, night.upperBound)
                ahead.removeFirst()
            }
            // The first row of a chain that is too long stays, and the newest one.
            if let first = chain.first,
                row.moment - first.moment > NightLimits.night || chain.count >= SampleLimits.stages
            {
                isTooLong = true
                chain = [first, row]
            } else {
                chain.append(row)
            }
        }
        completeNight()
        return nights
    }

    /// Whether a night ends between two rows. Where a row is a change of stage, a long time between two may be a stage; a long time
    /// awake is the end.
    private func isOver(_ last: StageRow, before row: StageRow) -> Bool {
        let time = row.moment - (last.moment + last.length)
        return switch length {
        case .untilNext where last.depth == .awake, .sincePrevious where row.depth == .awake: time > NightLimits.pause
        default: time > pause
        }
    }
}

extension Sleep.Stage {
    fileprivate var isAsleep: Bool { depth != .awake }
}

extension StageRow {
    fileprivate var isAsleep: Bool { depth != nil && depth != .awake }
}
