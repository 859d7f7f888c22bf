import Vitals

/// Steps of a table that counts those of the day so far: each row gives the difference to the row before.
///
/// The wearable begins a new count at the midnight of its own clock, which may be that of another time zone. So a count that falls on
/// a new local day, or comes there after a pause, begins at 0: the watch was not worn, or lay still, while its day began. One that
/// does not fall and has rows on both sides of the gateway's midnight continues: it is that of a phone in the west, whose day is not
/// over. One that falls within a day is a journey; its first row only begins the new count.
///
/// Steps are those of the row's minute, if a person can make so many in one. Else they have gathered since the row before, or since
/// the day of the wearable began.
struct CountFeed: Feed {
    let metric = Metric.steps
    var tables: [String] { [table] }
    let table: String
    let unit: TimeUnit
    /// A column with the centimetres of the day so far.
    let distance: String?

    /// How long an activity row lasts.
    static let minute: Duration = .minutes(1)
    /// The longest pause over the gateway's midnight after which a count that did not fall is still the same one. Wearables of running
    /// counts write a row each minute while they are worn, and at rest at least one each hour.
    static let pauseOverMidnight: Duration = .hours(2)
    /// How long before the minute of a row its steps may have begun to gather: a day on which clocks go back.
    static let longest: Duration = .hours(25)

    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        let columns = ["STEPS"] + (distance.map { [$0] } ?? [])
        let first = unit.number(notBefore: reading.from + Self.minute)
        let all = (["TIMESTAMP"] + columns).map { ExportDatabase.quoted($0) }.joined(separator: ", ")
        let before = try reading.database.statement(
            """
            SELECT \(all) FROM \(ExportDatabase.quoted(table))
            WHERE DEVICE_ID = ?1 AND TIMESTAMP < ?2 AND typeof(STEPS) = 'integer' AND STEPS >= 0
            ORDER BY TIMESTAMP DESC LIMIT 1
            """)
        before.bind(reading.device, first)
        let last = try before.step() ? CountStream.Count(Row(before, unit: unit)) : nil
        before.reset()
        let statement = try reading.database.statement(Table.select(columns, from: table))
        // Rows behind the end may have steps that began before it.
        statement.bind(reading.device, first, unit.number(notBefore: reading.to + Self.minute + Self.longest))
        return CountStream(statement, self, after: last, reading)
    }
}

private final class CountStream: SampleStream {
    /// What a row counts.
    struct Count {
        var moment: Timestamp
        var steps: Int64
        var centimetres: Double?

        init?(_ row: Row) {
            guard let steps = row.integer(0), steps >= 0 else { return nil }
            self.steps = steps
            moment = row.moment
            centimetres = row.number(1).flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    /// What a row adds.
    private struct Difference {
        var steps: Int64
        var centimetres: Double?
        var isWhole: Bool
    }

    private let statement: ExportStatement
    private let feed: CountFeed
    private var last: Count?
    private let reading: ExportRange

    init(_ statement: ExportStatement, _ feed: CountFeed, after last: Count?, _ reading: ExportRange) {
        self.statement = statement
        self.feed = feed
        self.last = last
        self.reading = reading
    }

    func next() throws(ExportError) -> Candidate? {
        while try statement.step() {
            let row = Row(statement, unit: feed.unit)
            guard let count = Count(row) else {
                // -1 is no count: such a row says nothing.
                if row.integer(0) == nil { skip(row.absence(0), at: row.moment) }
                continue
            }
            defer { last = count }
            guard let found = difference(count) else {
                skip(.countFell, at: count.moment)
                continue
            }
            guard found.steps > 0 else { continue }
            let steps = Int(clamping: found.steps)
            guard let start = begin(of: steps, whole: found.isWhole, to: count.moment) else {
                skip(.implausible, at: count.moment)
                continue
            }
            let metres = ValidRange.possible(metres: found.centimetres.map { $0 / 100 }, in: count.moment - start)
            let sample = Sample(
                metric: .steps, start: start, end: count.moment,
                reading: .count(Increment(count: steps, distance: metres)))
            return Candidate(sample: sample, rank: .minutes)
        }
        return nil
    }

    /// Counts a row, unless it belongs to the range behind.
    private func skip(_ reason: SkippedRows.Reason, at moment: Timestamp) {
        if moment < reading.to + CountFeed.minute { reading.skippedRows.add(reason, in: feed.table) }
    }

    /// When so many steps began to gather: within the minute, since the day began if they are its `whole` count, or since the row before;
    /// `nil` if there was no time for them.
    private func begin(of steps: Int, whole isWhole: Bool, to end: Timestamp) -> Timestamp? {
        let minute = end - CountFeed.minute
        let earliest = minute - CountFeed.longest
        let floor = max(last?.moment ?? earliest, earliest)
        let day = reading.calendar.bounds(of: reading.calendar.day(of: minute)).lowerBound
        return [minute, isWhole ? max(day, floor) : floor, floor].map { min($0, minute) }
            .first { ValidRange.isPossible(steps: steps, in: end - $0) }
    }

    /// The steps since the row before, or the whole count of a new day; `nil` where a count fell within a day.
    private func difference(_ count: Count) -> Difference? {
        func whole() -> Difference { Difference(steps: count.steps, centimetres: count.centimetres, isWhole: true) }
        guard let last else { return whole() }
        // A row is stamped at its end: one of midnight has the count of the day that ends, unless it has begun anew already.
        let day = reading.calendar.day(of: last.moment - CountFeed.minute)
        let isSameDay = reading.calendar.day(of: count.moment - CountFeed.minute) == day
        guard isSameDay || count.moment - last.moment <= CountFeed.pauseOverMidnight else { return whole() }
        guard count.steps >= last.steps else {
            return reading.calendar.day(of: count.moment) == day ? nil : whole()
        }
        let way = count.centimetres.flatMap { now in last.centimetres.map { now - $0 } }
        return Difference(steps: count.steps - last.steps, centimetres: way, isWhole: false)
    }
}
