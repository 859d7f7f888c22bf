import Vitals

/// Nights of a table of stages that another table gives bounds to, and, beside them, those of rows that it gives none.
struct StageNights: NightFeed {
    let sessions: SessionNights
    let chains: ChainNights
    var table: String { sessions.table }
    let rank = Rank.records

    func nights(_ reading: ExportRange) throws(ExportError) -> [Sample] {
        // A night whose rows are read for a chain may have begun a day before them.
        var wide = reading.ranging(
            reading.from - ChainNights.margin - NightLimits.night, reading.to + ChainNights.margin)
        wide.counted = reading.counted ?? reading.from..<reading.to
        let bounded = try sessions.nights(wide)
        var narrow = reading
        narrow.counted = wide.counted
        let others = try chains.nights(narrow, beside: bounded.map { $0.start..<$0.end })
        let own = bounded.filter { $0.start >= reading.from && $0.start < reading.to }
        return (own + others).sorted { $0.start < $1.start }
    }
}
