import Vitals

/// Steps, metres or energy of a table that counts those of the day so far: each row gives the difference to the row before.
///
/// The wearable begins a new count at the midnight of its own clock, which may be that of another time zone. So a count that falls on
/// a new local day, or comes there after a pause, begins at 0: the watch was not worn, or lay still, while its day began. One that
/// does not fall and has rows on both sides of the gateway's midnight continues: it is that of a phone in the west, whose day is not
/// over. One that falls within a day is a journey; its first row only begins the new count.
///
/// A row of 0 counts nothing, and the count goes on behind it: Gadgetbridge, too, takes the differences of steps, distance and energy
/// only between numbers above 0 (`AbstractSampleProvider.convertCumulativeSteps`).
///
/// They are those of the row's minute, if a person can do so much in one. Else they have gathered since the row before, or since
/// the day of the wearable began.
struct CountFeed: Feed {
    var metric: Metric { amount.metric }
    var tables: [String] { [table] }
    let table: String
    let unit: TimeUnit
    let amount: CounterFeeds.Amount
    /// A column with the distance of the day so far, beside steps.
    let companion: CounterFeeds.Amount?

    init(_ table: Table, _ amount: CounterFeeds.Amount) {
        (self.table, self.unit, self.amount) = (table.name, table.unit, amount)
        companion = amount.metric == .steps ? CounterFeeds.companion(of: table) : nil
    }

    /// How long an activity row lasts.
    static let minute: Duration = .minutes(1)
    /// The longest pause over the gateway's midnight after which a count that did not fall is still the same one. Wearables of running
    /// counts write a row each minute while they are worn, and at rest at least one each hour.
    static let pauseOverMidnight: Duration = .hours(2)
    /// How long before the minute of a row its count may have begun to gather: a day on which clocks go back.
    static let longest: Duration = .hours(25)

    func stream(_ reading: ExportRange) throws(ExportError) -> any SampleStream {
        let columns = [amount.column] + (companion.map { [$0.column] } ?? [])
        let first = unit.number(notBefore: reading.from + Self.minute)
        let column = amount.column
        let all = (["TIMESTAMP"] + columns).map { ExportDatabase.quoted($0) }.joined(separator: ", ")
        let before = try reading.database.statement(
            """
            SELECT \(all) FROM \(ExportDatabase.quoted(table))
            WHERE DEVICE_ID = ?1 AND TIMESTAMP < ?2 AND typeof(\(column)) = 'integer' AND \(column) > 0
            ORDER BY TIMESTAMP DESC LIMIT 1
            """)
        before.bind(reading.device, first)
        let last = try before.step() ? CountStream.Count(Row(before, unit: unit)) : nil
        before.reset()
        let statement = try reading.database.statement(Table.select(columns, from: table))
        // Rows behind the end may have what began before it.
        statement.bind(reading.device, first, unit.number(notBefore: reading.to + Self.minute + Self.longest))
        return CountStream(statement, self, after: last, reading)
    }
}

private final class CountStream: SampleStream {
    /// What a row counts.
    struct Count {
        var moment: Timestamp
        var amount: Int64
        /// The companion's.
        var beside: Double?

        init?(_ row: Row) {
            guard let amount = row.integer(0), amount > 0 else { return nil }
            self.amount = amount
            moment = row.moment
            beside = row.number(1).flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    /// What a row adds.
    private struct Difference {
        var amount: Int64
        var beside: Double?
        var isWhole: Bool
    }

    private let statement: ExportStatement
    private let feed: CountFeed
    private var last: Count?
    private let reading: ExportRange
    /// What is read and not handed out yet, last one first.
    private var ready: [Candidate] = []
    /// What corrects the counts of rows without one, since the last one with.
    private var empty: [Candidate] = []
    private var isOver = false

    init(_ statement: ExportStatement, _ feed: CountFeed, after last: Count?, _ reading: ExportRange) {
        self.statement = statement
        self.feed = feed
        self.last = last
        self.reading = reading
    }

    func next() throws(ExportError) -> Candidate? {
        while ready.isEmpty, !isOver {
            isOver = try !statement.step()
            if !isOver {
                let row = Row(statement, unit: feed.unit)
                guard let candidate = read(row) else {
                    releaseEmpty(at: row.moment)
                    continue
                }
                empty.append(candidate)
            }
            // What has gathered since a row before the empty ones begins before them.
            ready = empty.sorted { $0.sample.start > $1.sample.start }
            empty = []
        }
        return ready.popLast()
    }

    /// Hands out empty rows from before all that a row of this moment, or a later one, may add.
    private func releaseEmpty(at moment: Timestamp) {
        // Only many at once, since they are moved.
        guard let first = empty.first, first.sample.start < moment - CountFeed.longest - CountFeed.longest else {
            return
        }
        let settled = empty.prefix { $0.sample.start < moment - CountFeed.minute - CountFeed.longest }
        ready = settled.reversed()
        empty.removeFirst(settled.count)
    }

    /// What a row adds; `nil` where it says nothing.
    private func read(_ row: Row) -> Candidate? {
        guard let count = Count(row) else {
            // 0 and -1 are no counts: such a row says nothing. Beside the steps nothing else need be measured.
            if row.integer(0) == nil, feed.metric == .steps || !row.isNull(0) {
                skip(row.absence(0), at: row.moment)
            }
            if let candidate = nothing(at: row.moment) { empty.append(candidate) }
            return nil
        }
        defer { last = count }
        guard let found = difference(count) else {
            skip(.countFell, at: count.moment)
            return nothing(at: count.moment)
        }
        guard found.amount > 0 else { return nothing(at: count.moment) }
        guard let sample = sample(of: found, until: count.moment) else {
            skip(.implausible, at: count.moment)
            return nil
        }
        return Candidate(sample: sample, rank: .minutes)
    }

    /// Counts a row, unless it belongs to the range behind.
    private func skip(_ reason: SkippedRows.Reason, at moment: Timestamp) {
        if moment < reading.to + CountFeed.minute { reading.skippedRows.add(reason, in: feed.table) }
    }

    /// What corrects that something was counted in the minute of a row.
    private func nothing(at moment: Timestamp) -> Candidate? {
        guard reading.takesBack else { return nil }
        let minute = moment - CountFeed.minute
        return Candidate(sample: .nothing(of: feed.metric, from: minute, to: moment), rank: .minutes)
    }

    /// What was counted within the minute, since the day began if it is its whole count, or since the row before; `nil` if there
    /// was no time for it. A way that nobody goes on foot in a minute is longer than that, or else one since the row before.
    private func sample(of found: Difference, until end: Timestamp) -> Sample? {
        let minute = end - CountFeed.minute
        let earliest = minute - CountFeed.longest
        let floor = max(last?.moment ?? earliest, earliest)
        let day = reading.calendar.bounds(of: reading.calendar.day(of: minute)).lowerBound
        let (amount, companion) = (feed.amount, feed.companion)
        let count = Double(found.amount) * amount.scale
        let starts = [minute, found.isWhole ? max(day, floor) : floor, floor].map { min($0, minute) }
        let usual = starts.filter {
            amount.metric != .distance || count <= SampleLimits.most(at: SampleLimits.footSpeed, in: end - $0)
        }
        for start in usual + starts.suffix(1) {
            let beside = found.beside.map { $0 * (companion?.scale ?? 1) }
            if let sample = amount.sample(count, from: start, to: end, companion, beside) { return sample }
        }
        return nil
    }

    /// What came since the row before, or the whole count of a new day; `nil` where a count fell within a day.
    private func difference(_ count: Count) -> Difference? {
        func whole() -> Difference { Difference(amount: count.amount, beside: count.beside, isWhole: true) }
        guard let last else { return whole() }
        // A row is stamped at its end: one of midnight has the count of the day that ends, unless it has begun anew already.
        let day = reading.calendar.day(of: last.moment - CountFeed.minute)
        let isSameDay = reading.calendar.day(of: count.moment - CountFeed.minute) == day
        guard isSameDay || count.moment - last.moment <= CountFeed.pauseOverMidnight else { return whole() }
        guard count.amount >= last.amount else {
            return reading.calendar.day(of: count.moment) == day ? nil : whole()
        }
        let beside = count.beside.flatMap { now in last.beside.map { now - $0 } }
        return Difference(amount: count.amount - last.amount, beside: beside, isWhole: false)
    }
}
