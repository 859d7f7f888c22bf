import GRDB
import Vitals

/// Samples as rows: writes and reads them. The column `user_initiated` has the key's `code`, which also tells apart samples that stand
/// beside each other; `fields` begins with the members of `RowHead`, if there are any.
enum SampleTable {
    static let insertion = """
        INSERT INTO sample(series, start, duration, user_initiated, value, fields, kind, exercise, user, revision,
            device_revision, received_at, whose)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT DO NOTHING
        """

    static let correction = """
        UPDATE sample SET value = ?5, fields = ?6, kind = ?7, exercise = ?8, user = ?9, revision = ?10,
            device_revision = ?11, received_at = ?12, whose = ?13
        WHERE series = ?1 AND start = ?2 AND duration = ?3 AND user_initiated = ?4
        """

    /// The columns of `read`, in its order.
    static let columns = """
        start, duration, user_initiated, value, fields, kind, exercise, user, revision, device_revision, received_at,
        withdrawn, whose
        """

    static let lookup = """
        SELECT \(columns) FROM sample WHERE series = ?1 AND start = ?2 AND duration = ?3 AND user_initiated = ?4
        """

    /// All samples that begin at a moment.
    static let beginning = "SELECT \(columns) FROM sample WHERE series = ?1 AND start = ?2"

    /// The newest value that counts, and does not stand beside another one (`?2`: whether words separate those of the series).
    static let newest = """
        SELECT \(columns) FROM sample WHERE series = ?1 AND withdrawn = 0 AND (user_initiated <= 1 OR ?2)
        ORDER BY start DESC LIMIT 1
        """

    /// Sets whether a sample counts (see `Standing`; `NULL` for as it is), with its revision and its time of receipt.
    static let mark = """
        UPDATE sample SET withdrawn = coalesce(?5, withdrawn), revision = ?6, received_at = ?7
        WHERE series = ?1 AND start = ?2 AND duration = ?3 AND user_initiated = ?4
        """

    /// The keys of the records that begin from one moment on and before another, last first, with their users, whether they count,
    /// their fields, and for how much a sleep says its minutes asleep and whether any of it may have an unknown depth.
    static let rivals = """
        SELECT start, duration, user_initiated, user, withdrawn, fields, value,
            coalesce(instr(fields, '"asleep"') > 0, 0) FROM sample
        WHERE series = ?1 AND start >= ?2 AND start < ?3 ORDER BY start DESC LIMIT ?4
        """

    /// The same of counts: only those that end after a moment, begin at it, or are sums that do not say their end.
    static let countRivals = """
        SELECT start, duration, user_initiated, user, withdrawn, fields, value FROM sample
        WHERE series = ?1 AND start >= ?2 AND start < ?3
            AND (start + duration > ?5 OR start = ?5 OR duration = 0 AND \(isSummed))
        ORDER BY start DESC LIMIT ?4
        """

    /// How long the longest sample of a series lasts, or a sum may last that does not say its end.
    static let longest = """
        SELECT coalesce(max(CASE WHEN duration = 0 AND \(isSummed) THEN \(summedMinutes) * 60000 ELSE duration END), 0)
        FROM sample
        WHERE series = ?1
        """

    /// The minutes of a sum. A text is cast to the number with which it begins.
    private static let summedMinutes =
        "CAST(substr(fields, instr(fields, '\"\(RowHead.summed)\":') + \(RowHead.summed.utf8.count + 3), 4) AS INTEGER)"

    /// Whether an app has summed up others in a sample.
    private static let isSummed = "coalesce(instr(fields, '\"\(RowHead.summed)\":'), 0) > 0"

    /// The values from one moment on and before another that are sums (`?4`) or originals, and count, the first 1000 of them.
    static let values = """
        SELECT \(columns) FROM sample
        WHERE series = ?1 AND start >= ?2 AND start < ?3 AND withdrawn = 0 AND (\(isSummed)) = ?4 LIMIT 1000
        """

    /// Binds a sample to `insertion` or `correction`.
    static func bind(_ stored: StoredSample, series: Int64, to statement: RawStatement) {
        let sample = stored.sample
        bind(SampleKey(sample), series: series, to: statement)
        statement.bind(sample.value, at: 5)
        statement.bind(text: sample.fields, at: 6)
        statement.bind(sample.kind.code, at: 7)
        statement.bind(sample.isExercise, at: 8)
        statement.bind(sample.user, at: 9)
        statement.bind(Int64(stored.revision), at: 10)
        statement.bind(sample.revision, at: 11)
        statement.bind(stored.receivedAt.milliseconds, at: 12)
        statement.bind(text: sample.whose?.kept, at: 13)
    }

    /// Binds the key of a sample to the first four parameters.
    static func bind(_ key: SampleKey, series: Int64, to statement: RawStatement) {
        statement.bind(series, at: 1)
        statement.bind(key.start.milliseconds, at: 2)
        statement.bind(key.end.milliseconds &- key.start.milliseconds, at: 3)
        statement.bind(key.code, at: 4)
    }

    /// The sample in the current row.
    static func read(_ row: RawStatement, device: DeviceID, metric: Metric) throws -> StoredSample {
        let start = row.int64(0)
        let fields = row.bytes(4)
        let code = row.int64(2)
        let head = try RowHead(fields: fields, isBeside: code > 1 && !metric.isSeparated)
        var sample = Sample(
            metric: metric, start: Timestamp(milliseconds: start),
            end: Timestamp(milliseconds: start &+ row.int64(1)), kind: Sample.Kind(code: row.int64(5)),
            isUserInitiated: code & 1 == 1, isExercise: row.isNull(6) ? nil : row.int64(6) != 0,
            revision: row.optionalInt(9), user: row.optionalInt(7), qualifiers: try metric.qualifiers(fields: fields),
            origin: head.origin, changedAt: head.changedAt,
            reading: try Reading(metric: metric, value: row.double(3), fields: fields))
        sample.reportedAt = head.reportedAt
        (sample.utcOffset, sample.summedMinutes) = (head.utcOffset, head.summedMinutes)
        sample.whose = row.bytes(12).map { Sample.Whose(kept: $0) }
        return StoredSample(
            sample: sample, of: device, revision: Int(row.int64(8)),
            receivedAt: Timestamp(milliseconds: row.int64(10)), isWithdrawn: row.int64(11) != 0)
    }

    /// The sample with a key, `nil` if there is none.
    static func find(
        _ key: SampleKey, series: Int64, device: DeviceID, metric: Metric, by lookup: RawStatement
    ) throws -> StoredSample? {
        bind(key, series: series, to: lookup)
        guard try lookup.step() else { return nil }
        defer { lookup.reset() }
        return try read(lookup, device: device, metric: metric)
    }
}

/// Whether a record counts: its column `withdrawn`.
enum Standing: Int64 {
    case counting = 0
    /// One of another source counts instead. What this one covers is still hidden from later sources.
    case hidden = 1
    /// A newer form by its own source counts instead, or none at all. It hides nothing.
    case superseded = 2
}

extension Sample.Whose {
    /// The text of a row: the candidates, each between spaces, so that one of them can be looked for.
    var kept: [UInt8] {
        guard case .asked(let users) = self else { return Self.decided }
        return Array(users.reduce(into: " ") { $0 += "\($1) " }.utf8)
    }

    private static let decided = Array("-".utf8)

    init(kept text: [UInt8]) {
        let users = text.split(separator: UInt8(ascii: " ")).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        self = text == Self.decided ? .settled : .asked(users)
    }
}

extension Sample.Kind {
    /// The number of a kind in a row.
    var code: Int64 {
        switch self {
        case .normal: 0
        case .maximum: 1
        case .minimum: 2
        case .resting: 3
        }
    }

    /// The kind of a row. An unknown number counts as normal.
    init(code: Int64) {
        switch code {
        case 1: self = .maximum
        case 2: self = .minimum
        case 3: self = .resting
        default: self = .normal
        }
    }
}
