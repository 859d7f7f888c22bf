import Engines
import GRDB
import JSON
import Vitals

/// Facts as rows. A row refers to the samples or the day of its fact, and only alerts and gaps, which exist nowhere else,
/// stand in it.
enum MessageTable {
    /// The number that stands for what a fact says.
    enum Kind: Int64 { case measurement = 0, day = 1, alert = 2, lateAlert = 3, gap = 4 }

    static let insertion = """
        INSERT INTO message(lane, sequence, kind, device, series, source, historical, user, day, samples, made_at, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
        """

    /// What is common to all queries of facts, up to the conditions.
    static let selection = """
        SELECT message.sequence, message.lane, message.kind, device.name, message.series, series.metric, message.source,
            message.historical, message.user, message.day, message.samples, message.body
        FROM message JOIN device ON device.id = message.device LEFT JOIN series ON series.id = message.series
        """

    /// The parts of a row that follow from a fact's content.
    struct Message {
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
            device = try transaction.book(of: id).row
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
            }
        }
    }
}

/// A fact's row as it was read, before what it refers to is looked up.
struct MessageRow {
    var sequence: Int64
    var lane: Lane
    var kind: MessageTable.Kind
    var device: DeviceID
    var series: Int64?
    var metric: Metric?
    var source: SampleSource?
    var isHistorical: Bool
    var user: Int?
    var day: LocalDay?
    var samples: Int
    var body: [UInt8]?

    /// A row of `MessageTable.selection`.
    init(_ row: Row) throws {
        guard let lane = Lane(rawValue: row[1]), let kind = MessageTable.Kind(rawValue: row[2]),
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

    /// The fact with what its samples or its day are now; `nil` where none of it is kept any more.
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
        }
    }
}
