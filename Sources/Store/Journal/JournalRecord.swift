import Vitals

/// A record of the journal, which one commit adds: samples and the messages with them, in the order of their arrival, and the
/// writer's counters after the commit. Packed, it is one row, and mostly part of one page.
struct JournalRecord: Sendable, Hashable {
    /// A row of the table `sample`.
    struct Item: Sendable, Hashable {
        var series: Int64
        var start: Int64
        var duration: Int64
        var isUserInitiated: Bool
        var value: Double?
        var fields: [UInt8]?
        var kind: Int64
        var isExercise: Bool?
        var user: Int?
        var revision: Int
        var deviceRevision: Int?
        var receivedAt: Int64
    }

    /// A row of the table `message`, of a measurement.
    struct Message: Sendable, Hashable {
        var lane: Lane
        var sequence: Int64
        var device: Int64
        var series: Int64
        var source: SampleSource
        var isHistorical: Bool
        var user: Int?
        var samples: Int
        var madeAt: Int64
        var body: [UInt8]
    }

    /// The parts of a row of the table `series` that follow from samples.
    struct Mark: Sendable, Hashable {
        var series: Int64
        var highWater: Int64?
        var latest: SampleKey?
    }

    var items: [Item] = []
    var messages: [Message] = []
    var marks: [Mark] = []
    var counters = Counters()

    /// Whether there is something beside the counters.
    var hasContent: Bool { !items.isEmpty || !messages.isEmpty || !marks.isEmpty }
}

extension JournalRecord.Item {
    init(_ stored: StoredSample, series: Int64) {
        let sample = stored.sample
        let key = SampleKey(sample)
        self.series = series
        start = key.start.milliseconds
        duration = key.duration
        isUserInitiated = key.isUserInitiated
        value = sample.value
        fields = sample.fields
        kind = sample.kind.code
        isExercise = sample.isExercise
        user = sample.user
        revision = stored.revision
        deviceRevision = sample.revision
        receivedAt = stored.receivedAt.milliseconds
    }

    /// Binds the row to `SampleTable.insertion`.
    func bind(to statement: RawStatement) {
        statement.bind(series, at: 1)
        statement.bind(start, at: 2)
        statement.bind(duration, at: 3)
        statement.bind(isUserInitiated, at: 4)
        statement.bind(value, at: 5)
        statement.bind(text: fields, at: 6)
        statement.bind(kind, at: 7)
        statement.bind(isExercise, at: 8)
        statement.bind(user, at: 9)
        statement.bind(Int64(revision), at: 10)
        statement.bind(deviceRevision, at: 11)
        statement.bind(receivedAt, at: 12)
    }
}

extension JournalRecord.Message {
    /// Binds the row to `OutboxTable.insertion`.
    func bind(to statement: RawStatement) {
        statement.bind(Int64(lane.rawValue), at: 1)
        statement.bind(sequence, at: 2)
        statement.bind(OutboxTable.Kind.measurement.rawValue, at: 3)
        statement.bind(device, at: 4)
        statement.bind(series, at: 5)
        statement.bind(text: Array(source.rawValue.utf8), at: 6)
        statement.bind(isHistorical, at: 7)
        statement.bind(user, at: 8)
        statement.bindNull(at: 9)
        statement.bind(Int64(samples), at: 10)
        statement.bind(madeAt, at: 11)
        statement.bind(blob: body, at: 12)
    }
}
