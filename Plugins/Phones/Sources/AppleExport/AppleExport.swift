import GatewayKit
import Vitals

/// The records of an export of Apple's Health app, as they are read, in bounded memory.
final class AppleExport: RecordStream, ElementReader {
    /// The most stages of sleep that wait for the end of their nights: twenty years of a watch.
    static let maximumStages = 400_000
    /// After so many other elements no further stage of a night is expected: an export has all records of a type together.
    static let patience = 1_000
    /// The most kinds of records that are counted apart, and sources that are kept in mind.
    static let maximumNames = 500
    /// How many bytes are read at most before others get a turn.
    static let turn: Int64 = 1 << 20
    /// The time that a record of a count may take that has no length.
    private static let instant = Duration.hours(1)

    let isTest = false
    private(set) var sources: CountSources
    /// What ended the reading early, as a sentence.
    private(set) var problem: String?
    private(set) var isAtEnd = false
    /// Elements that were read.
    private(set) var count = 0
    /// How many records are left out, by type.
    var leftOut: [String: Int] { Dictionary(omitted.map { ($0.key.quoted, $0.value) }, uniquingKeysWith: +) }
    private var omitted: [String: Int] = [:]

    private let bytes: ExportBytes
    private let order: SourceOrder
    private let from: Int64
    private lazy var parser = ElementParser(from: from, self)
    private var element: AppleRecord?
    private var texts = AppleRecord.Texts()
    private var pending: [Record] = []
    private var given = 0
    private var nights = Nights()
    private var zones = ExportedZones()
    private var stages = 0
    /// Elements since the last stage.
    private var others = 0
    /// Where the element before the first waiting stage ended.
    private var beforeStages: Int64?
    private var until: Int64
    private var origins: [String: (value: SampleOrigin, count: SampleOrigin)] = [:]
    private var metrics: [String: (name: String, metric: ExportedMetric)] = [:]

    /// Reads an export from a position on: 0, or a `position` of before.
    init(_ bytes: ExportBytes, from: Int64 = 0, source: String? = nil, order: SourceOrder = SourceOrder()) {
        (self.bytes, self.from, self.order, position, until) = (bytes, from, order, from, Self.turn)
        sources = CountSources(source, order: order)
    }

    /// All records before this byte were given by `next()`.
    private(set) var position: Int64

    /// Whether records wait that `next()` has not given.
    var hasPending: Bool { given < pending.count }
    /// Whether it is an export: it has the root, and an element.
    var hasRecords: Bool { parser.hasRoot && count > 0 }

    /// How much of the file was read, from 0 to 1.
    var share: Double { bytes.share }

    /// What is wrong with its XML, by reason.
    var damage: [(reason: String, what: String, count: Int, limit: Int?)] {
        [
            ("malformed", "records of the export", parser.broken, nil),
            ("too_long", "records of the export", parser.tooLong, ElementParser.longestTag),
            ("forbidden_character", "characters of the export", parser.forbidden, nil),
        ].filter { $0.count > 0 }
    }

    /// The next record; `nil` at the end (`isAtEnd`), and where others should get a turn.
    func next() -> Record? {
        while given == pending.count {
            pending.removeAll(keepingCapacity: true)
            given = 0
            position = min(max(parser.position, from), beforeStages ?? .max)
            if isAtEnd { return nil }
            guard bytes.position < until else {
                until = bytes.position + Self.turn
                return nil
            }
            do throws(ExportError) { try read() } catch { end(error.message) }
        }
        given += 1
        return pending[given - 1]
    }

    private func read() throws(ExportError) {
        let start = bytes.position
        guard let piece = try bytes.next() else {
            guard parser.hasRoot else {
                throw ExportError(.foreign, "\(bytes.stamp.path) is no export of Apple Health: it has no HealthData.")
            }
            let message =
                "\(bytes.stamp.path) ends in the middle; what was before it is taken. Export again, or copy the file again."
            return end(parser.isComplete ? nil : message)
        }
        guard bytes.position > from else { return }
        let skipped = max(0, Int(from - start))
        try parser.parse(skipped == 0 ? piece : Array(piece[skipped...]), at: start + Int64(skipped))
    }

    private func end(_ problem: String?) {
        (self.problem, isAtEnd) = (problem, true)
        finishNights()
    }

    // MARK: - Elements

    func begin(_ name: String, _ attributes: AttributeList, depth: Int) {
        if depth == 1 {
            element = AppleRecord(name, attributes, &texts)
        } else if depth == 2 {
            element?.add(name, attributes)
        }
    }

    func drop() { element = nil }

    func end(_ name: String, depth: Int) {
        guard depth == 1, let element else { return }
        self.element = nil
        count += 1
        if element.type == "SleepAnalysis", element.kind == .record { return add(stage: element) }
        if stages > 0 {
            others += 1
            if others > Self.patience { finishNights() }
        }
        if let record = record(of: element) { pending.append(record) }
    }

    private func record(of element: AppleRecord) -> Record? {
        switch element.kind {
        case .other:
            // What everybody has: who it is of, when it was made, and the rings, which are of its records.
            if !["ExportDate", "Me", "ActivitySummary", "Food"].contains(element.type) { leaveOut(element.type) }
            return nil
        case .record where element.type == "BloodPressureSystolic" || element.type == "BloodPressureDiastolic":
            // Both come as a correlation, too.
            return nil
        case .record: return quantity(element)
        case .workout: return workout(element)
        case .bloodPressure: return pressure(element)
        }
    }

    private func leaveOut(_ type: String) {
        omitted[omitted[type] != nil || omitted.count < Self.maximumNames ? type : "others", default: 0] += 1
    }

    private static func timeless(_ element: AppleRecord) -> Record {
        element.hasNoTime
            ? .refused(
                member: "",
                reason:
                    "a time of \(element.type.quoted) without a zone, or no time at all; export again with the Health app"
            )
            : .skipped("\(element.type.quoted) without a time")
    }

    private func quantity(_ element: AppleRecord) -> Record? {
        guard let (name, metric) = metric(of: element.type) else {
            leaveOut(element.type)
            return nil
        }
        guard let start = element.start, let end = element.end else { return Self.timeless(element) }
        var number = Double(element.value)
        if metric.metric == .standHours {
            guard element.value == "HKCategoryValueAppleStandHourStood" else { return nil }
            number = 1
        }
        var entry = ExportedEntry(start: start, end: end, quantity: number)
        entry.meal = element.meal.flatMap { ["1": "before meal", "2": "after meal"][$0] }
        let unit = metric.metric == .standHours ? "count" : element.unit
        let isCount = metric.metric.shape == .count
        if isCount, let reason = sources.skip(name, from: element.source) { return .skipped(reason) }
        var source = element.source
        if let part = metric.part { source += " \(part)" }
        let origin = origin(of: source)
        let record = metric.record(of: entry, name: name, unit: unit, period: Self.instant).located(zones, element.zone)
        switch record {
        case .nothing: return .skipped("an interval without \(metric.metric.rawValue)")
        case .sample(var sample) where isCount:
            sample.start = Self.widened(sample.start)
            return Record.sample(sample).from(origin.count)
        case .sample(var sample):
            sample.claim = .original
            if metric.metric == .heartRate {
                sample.isExercise = element.motion == "1" ? false : element.motion == "2" ? true : nil
            }
            return Record.sample(sample).from(origin.value)
        default: return record
        }
    }

    /// The start of a count as it is stored: just before its minute, by a millisecond and one more for each second of the minute.
    ///
    /// The posts divide a record into minutes, and have only the beginning of each. With this start a record meets all minutes into which the
    /// posts divide it, the first one too, and stays another record than those that begin in the same minute.
    static func widened(_ start: Timestamp) -> Timestamp {
        let rest = start.milliseconds % 60_000
        guard rest > 0 else { return start }
        return Timestamp(milliseconds: start.milliseconds - rest - 1 - rest / 1000)
    }

    private func metric(of type: String) -> (name: String, metric: ExportedMetric)? {
        if let known = metrics[type] { return known }
        guard let name = AppleRecord.names[type], let metric = ExportedMetric(name: name) else { return nil }
        metrics[type] = (name, metric)
        return (name, metric)
    }

    /// How far the places of an export's sources are before those of the posts.
    private static let ahead = 100_000

    /// What a source is: for values that of the posts, which are the same records. For counts another one, before all of the posts, which
    /// have them divided or summed up. A source's name may have a space that does not break.
    private func origin(of name: String) -> (value: SampleOrigin, count: SampleOrigin) {
        if let known = origins[name] { return known }
        let kind = SourceOrder.Kind(name: name)
        let names = [name, name.replacing("\u{A0}", with: " ")]
        let place = order.origin(of: name, kind, otherNames: names).place
        let origin = (
            value: name.isEmpty ? SourceOrder.nameless : order.origin(of: name, kind, otherNames: names),
            count: SampleOrigin(place: place - Self.ahead, name: "(export) \(name)")
        )
        if origins.count < Self.maximumNames { origins[name] = origin }
        return origin
    }

    private func workout(_ element: AppleRecord) -> Record {
        guard let start = element.start, let end = element.end else { return Self.timeless(element) }
        guard start <= end else { return .skipped("a workout without readable times") }
        func part(_ type: String) -> AppleRecord.Part? { element.parts.first { $0.type.hasPrefix(type) } }
        func number(_ type: String, _ convert: (Double, String?) -> Double?) -> Double? {
            part(type).flatMap { part in part.sum.flatMap { convert($0, part.unit) } }
        }
        let rate = part("HeartRate")
        let sport = Sport(
            activity: element.type.activityWords.activity, distance: number("Distance", PhoneUnit.distance),
            energy: number("ActiveEnergyBurned", PhoneUnit.energy),
            steps: part("StepCount")?.sum.flatMap { Int(exactly: $0.rounded()) }, minimumHeartRate: rate?.minimum,
            averageHeartRate: rate?.average, maximumHeartRate: rate?.maximum)
        // Without a source, as in the posts, which do not say it.
        return Record.sample(Sample(metric: .sport, start: start, end: end, reading: .sport(sport)))
            .located(zones, element.zone)
    }

    private func pressure(_ element: AppleRecord) -> Record {
        guard let start = element.start, let end = element.end, let (name, metric) = metric(of: element.type) else {
            return Self.timeless(element)
        }
        var entry = ExportedEntry(start: start, end: end, quantity: nil)
        let parts = Dictionary(element.parts.map { ($0.type, $0) }) { first, _ in first }
        entry.systolic = parts["BloodPressureSystolic"]?.sum
        entry.diastolic = parts["BloodPressureDiastolic"]?.sum
        let unit = parts["BloodPressureSystolic"]?.unit
        return metric.record(of: entry, name: name, unit: unit, period: Self.instant)
            .from(origin(of: element.source).value).located(zones, element.zone)
    }

    // MARK: - Nights

    private func add(stage element: AppleRecord) {
        guard let start = element.start, let end = element.end else { return pending.append(Self.timeless(element)) }
        guard let depth = element.depth, start <= end else {
            return pending.append(.skipped("a time of sleep without its depth: \(element.value.quoted)"))
        }
        if stages == 0 { beforeStages = max(parser.position, from) }
        zones.add(element.zone, from: start, to: end)
        nights.add(Sleep.Stage(depth, from: start, to: end), source: element.source)
        (stages, others) = (stages + 1, 0)
        if stages == Self.maximumStages { finishNights() }
    }

    private func finishNights() {
        guard stages > 0 else { return }
        while let night = nights.next() {
            let source = nights.source ?? ""
            pending.append(
                Record.sample(night).from(origin(of: source).value).located(zones, zones.zone(ofEnd: night.end)))
        }
        zones.removeRuns()
        (nights, stages, others, beforeStages) = (Nights(), 0, 0, nil)
    }
}

extension String {
    /// A name of words that are written together, with spaces: `HighIntensityIntervalTraining`.
    fileprivate var activityWords: String {
        var words = ""
        for character in self {
            if character.isUppercase, words.last?.isLowercase == true { words += " " }
            words.append(character)
        }
        return words
    }
}
