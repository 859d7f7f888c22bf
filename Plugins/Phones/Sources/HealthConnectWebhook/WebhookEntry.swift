import GatewayKit
import JSON
import Vitals

/// A record of a webhook's document, as far as it is understood.
struct WebhookEntry {
    /// `time`, or the start of an interval.
    var start: Timestamp?
    var end: Timestamp?
    /// The number of a record that has one, in the unit of its name.
    var number: Double?
    /// Instead of that, the average of some minutes, where the app's resolution is not that of the records.
    private var average: Double?
    var systolic: Double?
    var diastolic: Double?
    var delta: Double?
    var baseline: Double?
    var duration: Double?
    var distance: Double?
    var steps: Double?
    /// Grams of a meal.
    var protein: Double?
    var carbohydrates: Double?
    var fat: Double?
    /// The kind of a workout.
    var type: String?
    /// The package of the app that wrote the record.
    var app: String?
    /// The device that recorded it.
    private var manufacturer: String?
    private var model: String?
    /// What that is, as a number of Health Connect.
    private var deviceType: Int64?
    /// When Health Connect last changed the record (`Metadata.lastModifiedTime`).
    var changedAt: Timestamp?
    var stages: [Sleep.Stage] = []
    /// Why stages of a sleep are skipped, one for each.
    var unknownStages: [String] = []

    private enum Key {
        case start, end, number, average, systolic, diastolic, delta, baseline, duration, distance, steps, type, stages
        case protein, carbohydrates, fat, metadata, change
    }
    private static let keys = JSONWords<Key>([
        ("time", .start), ("start_time", .start), ("end_time", .end), ("session_end_time", .end),
        ("count", .number), ("bpm", .number), ("percentage", .number), ("rmssd_millis", .number),
        ("celsius", .number), ("rate", .number), ("avg", .average), ("kilograms", .number), ("mmol_per_liter", .number),
        ("meters", .number), ("calories", .number), ("liters", .number), ("ml_per_kg_per_min", .number),
        ("protein_grams", .protein), ("carbs_grams", .carbohydrates), ("fat_grams", .fat),
        ("systolic", .systolic), ("diastolic", .diastolic), ("delta_celsius", .delta),
        ("avg_delta_celsius", .delta), ("baseline_celsius", .baseline),
        ("duration_seconds", .duration), ("distance_meters", .distance), ("steps", .steps), ("type", .type),
        ("stages", .stages), ("metadata", .metadata), ("sleep_updated_at", .change), ("last_modified_time", .change),
        ("lastModifiedTime", .change),
    ])

    init(_ reader: inout JSONReader, calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        while let key = try reader.nextKey(in: Self.keys) {
            switch key {
            case .start: start = try reader.time(calendar)
            case .end: end = try reader.time(calendar)
            case .number: number = try reader.looseNumber()
            case .average: average = try reader.looseNumber()
            case .systolic: systolic = try reader.looseNumber()
            case .diastolic: diastolic = try reader.looseNumber()
            case .delta: delta = try reader.looseNumber()
            case .baseline: baseline = try reader.looseNumber()
            case .duration: duration = try reader.looseNumber()
            case .distance: distance = try reader.looseNumber()
            case .steps: steps = try reader.looseNumber()
            case .protein: protein = try reader.looseNumber()
            case .carbohydrates: carbohydrates = try reader.looseNumber()
            case .fat: fat = try reader.looseNumber()
            case .type: type = try reader.looseWord()
            case .stages: try readStages(&reader, calendar)
            case .metadata: try readMetadata(&reader, calendar)
            case .change: try readChange(&reader, calendar)
            }
        }
        number = number ?? average
    }

    /// Reads when the record was changed. A time that no record can have is none.
    private mutating func readChange(_ reader: inout JSONReader, _ calendar: LocalCalendar) throws(JSONError) {
        guard let time = try reader.time(calendar), SampleLimits.moments.contains(time) else { return }
        changedAt = max(changedAt ?? time, time)
    }

    private enum MetadataKey { case origin, device, change }
    private static let metadataKeys = JSONWords<MetadataKey>([
        ("data_origin", .origin), ("device", .device), ("last_modified_time", .change), ("lastModifiedTime", .change),
    ])
    private enum DeviceKey { case manufacturer, model, type }
    private static let deviceKeys = JSONWords<DeviceKey>([
        ("manufacturer", .manufacturer), ("model", .model), ("type", .type),
    ])

    private mutating func readMetadata(_ reader: inout JSONReader, _ calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        while let key = try reader.nextKey(in: Self.metadataKeys) {
            switch key {
            case .origin: app = try reader.looseText()
            case .device: try readDevice(&reader)
            case .change: try readChange(&reader, calendar)
            }
        }
    }

    private mutating func readDevice(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.looseObject() else { return }
        while let key = try reader.nextKey(in: Self.deviceKeys) {
            switch key {
            case .manufacturer: manufacturer = try reader.looseText()
            case .model: model = try reader.looseText()
            case .type: deviceType = try reader.looseWord().flatMap { Int64($0) }
            }
        }
    }

    /// Who recorded it: a device of an app. Two devices of one app are two sources. `nil` if the record names neither.
    var source: NamedSource? {
        let device = [manufacturer, model].compactMap { $0 }.joined(separator: " ")
        let parts = [app ?? "", device].filter { !$0.isEmpty }
        guard !parts.isEmpty || deviceType != nil else { return nil }
        // Without a name of their own, devices of different types are still different ones.
        let type = device.isEmpty ? deviceType.map { ["type \($0)"] } ?? [] : []
        return NamedSource(
            name: (parts + type).joined(separator: " "),
            kind: SourceOrder.Kind(type: deviceType, name: device.isEmpty ? app ?? "" : device),
            otherNames: parts + (model.map { [$0] } ?? []))
    }

    private enum StageKey { case stage, start, end }
    private static let stageKeys = JSONWords<StageKey>([
        ("stage", .stage), ("start_time", .start), ("end_time", .end),
    ])

    private mutating func readStages(_ reader: inout JSONReader, _ calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseArray() else { return }
        while try reader.nextElement() {
            guard try reader.looseObject() else {
                skip("a stage of sleep that is no object")
                continue
            }
            var word: String?
            var (start, end) = (Timestamp?.none, Timestamp?.none)
            while let key = try reader.nextKey(in: Self.stageKeys) {
                switch key {
                case .stage: word = try reader.looseWord()
                case .start: start = try reader.time(calendar)
                case .end: end = try reader.time(calendar)
                }
            }
            guard let start, let end, start <= end else {
                skip("a stage of sleep without readable times")
                continue
            }
            guard let depth = Sleep.Stage.Depth(webhook: word ?? "") else {
                skip("a time of sleep without its depth: \((word ?? "").quoted)")
                continue
            }
            // More than a sleep may have make it implausible; they need no memory.
            if stages.count <= SampleLimits.stages { stages.append(Sleep.Stage(depth, from: start, to: end)) }
        }
        stages.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    private mutating func skip(_ reason: String) {
        if unknownStages.count < SampleLimits.stages { unknownStages.append(reason) }
    }
}

extension JSONReader {
    /// Reads a text, or a whole number as its text. Any other value is skipped and gives `nil`.
    fileprivate mutating func looseWord() throws(JSONError) -> String? {
        guard try peek() == .number else { return try looseText() }
        return try looseNumber().flatMap { Int(exactly: $0) }.map { "\($0)" }
    }
}

extension Sleep.Stage.Depth {
    /// The depth that the app calls so, by a word or by the number of Health Connect (`SleepSessionRecord.STAGE_TYPE_*`); `nil`
    /// for an unknown one. A person who was out of bed was awake, as in an export of Health Connect.
    fileprivate init?(webhook word: String) {
        let word = word.lowercased().replacing("stage_type_", with: "").replacing("sleep_stage_", with: "")
        switch word {
        case "awake", "awake_in_bed", "out_of_bed", "1", "3", "7": self = .awake
        case "sleeping", "2": self = .asleep
        case "light", "4": self = .light
        case "deep", "5": self = .deep
        case "rem", "6": self = .rem
        default: return nil
        }
    }
}
