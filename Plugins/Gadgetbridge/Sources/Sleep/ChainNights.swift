import ExportDrivers
import Exports
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

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        // A night that begins in the range is known as such only from what is before it, and is read to its end.
        let margin = NightLimits.night + NightLimits.stage
        let next = try rows(reading.ranging(reading.from - margin, reading.to + margin))
        var nights: [Sample] = []
        var chain: [StageRow] = []
        var isTooLong = false
        func completeNight() {
            defer { (chain, isTooLong) = ([], false) }
            guard let first = chain.first else { return }
            guard !isTooLong else { return reading.leave(.tooLong, in: table, at: first.moment) }
            let stages = length.stages(of: chain)
            guard let start = stages.first?.start, let end = stages.last?.end, start >= reading.from,
                start < reading.to,
                stages.contains(where: { $0.depth != .awake })
            else { return }
            nights.append(Sample(metric: .sleep, start: start, end: end, reading: .sleep(Sleep(stages: stages))))
        }
        while let row = try next() {
            if let last = chain.last, isOver(last, before: row) { completeNight() }
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
