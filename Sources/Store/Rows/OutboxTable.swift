import GRDB
import JSON
import Vitals

/// Facts in the outbox, as rows of the table `message`, named so since the first version. A row refers to the samples
/// or the day of its fact; it contains only alerts, gaps and questions, which are stored nowhere else.
enum OutboxTable {
    /// The number of a fact's kind.
    enum Kind: Int64 { case measurement = 0, day = 1, alert = 2, lateAlert = 3, gap = 4, question = 5 }

    static let insertion = """
        INSERT INTO message(lane, sequence, kind, device, series, source, historical, user, day, samples, made_at, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
        """

    /// The common part of all queries of facts, up to the conditions.
    static let selection = """
        SELECT message.sequence, message.lane, message.kind, device.name, message.series, series.metric, message.source,
            message.historical, message.user, message.day, message.samples, message.body
        FROM message JOIN device ON device.id = message.device LEFT JOIN series ON series.id = message.series
        """

    /// The columns that follow from a fact's content.
    struct Entry {
        var kind: Kind
        var device: Int64
        var series: Int64?
        var source: SampleSource?
        var isHistorical: Bool?
        var user: Int?
        var day: Int?
        var samples = 0
        var body: [UInt8]?

        init(_ content: Fact.Content, of id: DeviceID, in transaction: Transaction) throws {
            device = try transaction.cachedDevice(of: id).row
            switch content {
            case .measurement(let measurement):
                kind = .measurement
                series = try transaction.row(of: id, measurement.metric)
                source = measurement.source
                isHistorical = measurement.isHistorical
                user = measurement.user
                samples = measurement.samples.count
                body = SampleKeys.pack(measurement.samples)
            case .day(let record):
                kind = .day
                series = try transaction.row(of: id, record.summary.metric)
                day = record.summary.day.number
            case .alert(let event, let isLate):
                kind = isLate ? .lateAlert : .alert
                body = event.json.bytes
            case .gap(let gap):
                kind = .gap
                body = gap.json.bytes
            case .question(let question):
                kind = .question
                body = question.json.bytes
            }
        }
    }
}

/// A fact's row, before the samples or the day that it refers to are read.
struct OutboxRow {
    var sequence: Int64
    var lane: Lane
    var kind: OutboxTable.Kind
    var device: DeviceID
    var series: Int64?
    var metric: Metric?
    var source: SampleSource?
    var isHistorical: Bool
    var user: Int?
    var day: LocalDay?
    var samples: Int
    var body: [UInt8]?

    /// A row of `OutboxTable.selection`.
    init(_ row: Row) throws {
        guard let lane = Lane(rawValue: row[1]), let kind = OutboxTable.Kind(rawValue: row[2]),
            let device = DeviceID(row[3])
        else { throw JSONValue.isDamaged }
        sequence = row[0]
        self.lane = lane
        self.kind = kind
        self.device = device
        series = row[4]
        metric = (row[5] as String?).flatMap(Metric.init(rawValue:))
        source = (row[6] as String?).flatMap(SampleSource.init(rawValue:))
        isHistorical = row[7] as Bool? ?? false
        user = row[8]
        day = (row[9] as Int?).map { LocalDay(number: $0) }
        samples = row[10]
        body = row.bytes(at: 11)
    }

    /// The fact with the current state of its samples or day; `nil` if none of it is stored any more.
    func fact(in database: Database) throws -> Fact? {
        try content(in: database).map { Fact(sequence: sequence, lane: lane, device: device, content: $0) }
    }

    private func content(in database: Database) throws -> Fact.Content? {
        switch kind {
        case .measurement:
            guard let series, let metric, let source, let body else { throw JSONValue.isDamaged }
            let lookup = try RawStatement(SampleTable.lookup, in: database)
            let samples = try SampleKeys.unpack(body).compactMap {
                try SampleTable.find($0, series: series, device: device, metric: metric, by: lookup)
            }.filter { stored in
                // One that got another person is in a later fact.
                stored.sample.whose == nil || stored.sample.user == user
            }
            guard !samples.isEmpty else { return nil }
            return .measurement(
                Fact.Measurement(
                    metric: metric, source: source, isHistorical: isHistorical, user: user, samples: samples))
        case .day:
            guard let series, let metric, let day else { throw JSONValue.isDamaged }
            return try DayTable.find(metric: metric, day: day, series: series, in: database).record.map { .day($0) }
        case .alert: return .alert(try AlertEvent(json: .kept(body)), isLate: false)
        case .lateAlert: return .alert(try AlertEvent(json: .kept(body)), isLate: true)
        case .gap: return .gap(try Gap(json: .kept(body)))
        case .question: return .question(try Question(json: .kept(body)))
        }
    }
}

/// Facts that the broker does not take, with the columns of the table `message`, from which they were moved.
enum QuarantineTable {
    /// All columns in the order of `OutboxTable.selection`, up to the conditions.
    static let selection = """
        SELECT quarantine.sequence, quarantine.lane, quarantine.kind, device.name, quarantine.series, series.metric,
            quarantine.source, quarantine.historical, quarantine.user, quarantine.day, quarantine.samples,
            quarantine.body
        FROM quarantine JOIN device ON device.id = quarantine.device LEFT JOIN series ON series.id = quarantine.series
        """

    /// Quarantined facts, by their numbers.
    static func rows(_ numbers: ClosedRange<Int64>, limit: Int, in database: Database) throws -> [OutboxRow] {
        let statement = try database.cachedStatement(
            sql: "\(selection) WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?")
        return try Row.fetchAll(statement, arguments: [numbers.lowerBound, numbers.upperBound, limit])
            .map { try OutboxRow($0) }
    }

    /// The number of quarantined facts.
    static func count(in database: Database) throws -> Int {
        try Int.fetchOne(database.cachedStatement(sql: "SELECT count(*) FROM quarantine")) ?? 0
    }

    /// When the oldest of them was made; `nil` if there is none.
    static func oldest(in database: Database) throws -> Int64? {
        try Int64.fetchOne(try database.cachedStatement(sql: "SELECT min(made_at) FROM quarantine"))
    }
}
