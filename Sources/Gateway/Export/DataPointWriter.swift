import JSON
import Vitals

/// Data points of Open mHealth and IEEE 1752.1, one on each line: a header, and a body by the schema that the header names.
///
/// The schemas have no data point that takes another one back, so what is withdrawn is left out.
struct DataPointWriter: SampleWriter {
    private var json = JSONWriter()

    mutating func add(_ item: ExportedSample, to output: inout [UInt8]) -> OmittedSample? {
        let (stored, sample) = (item.stored, item.sample)
        guard let schema = BodySchema.of(sample) else { return .noCode }
        if stored.isWithdrawn { return .withdrawn }
        if schema.needsInterval, sample.start == sample.end { return .noInterval }
        json.removeAll()
        json.beginObject()
        json.member("header") { header in
            header.member("uuid", stored.id.description)
            header.member("schema_id") {
                $0.member("namespace", schema.namespace)
                $0.member("name", schema.name)
                $0.member("version", schema.version)
            }
            header.member("source_creation_date_time", sample.end.description)
            header.member("modality", "sensed")
            if let person = item.person { header.member("user_id", person) }
            header.member("external_datasheets", array: [item.device.text]) { writer, device in
                writer.beginObject()
                writer.member("datasheet_type", "hardware")
                writer.member("datasheet_reference", "urn:vitals2mqtt:device:\(device)")
                writer.endObject()
            }
        }
        json.member("body") { body in
            body.values(of: sample, by: schema)
            body.timeFrame("effective_time_frame", from: sample.start, to: sample.end)
        }
        json.endObject()
        json.newline()
        output += json.bytes
        return nil
    }
}

/// The schema of a body.
private struct BodySchema {
    var namespace = "omh"
    var name: String
    var version: String
    /// The member with the number, and its unit; `nil` where there is more than one number.
    var value: (member: String, unit: String)?
    var needsInterval = false

    /// The schemas by the name of the metric: those of Open mHealth, and of IEEE 1752.1-2021 where that has one.
    private static let rows: [String: BodySchema] = [
        "heart_rate": BodySchema(name: "heart-rate", version: "2.0", value: ("heart_rate", "beats/min")),
        "resting_heart_rate": BodySchema(name: "heart-rate", version: "2.0", value: ("heart_rate", "beats/min")),
        "blood_pressure": BodySchema(name: "blood-pressure", version: "4.0"),
        "blood_oxygen": BodySchema(name: "oxygen-saturation", version: "2.0", value: ("oxygen_saturation", "%")),
        "temperature": BodySchema(name: "body-temperature", version: "4.0", value: ("body_temperature", "C")),
        "respiratory_rate": BodySchema(
            name: "respiratory-rate", version: "2.0", value: ("respiratory_rate", "breaths/min")),
        "weight": BodySchema(name: "body-weight", version: "3.0", value: ("body_weight", "kg")),
        "height": BodySchema(name: "body-height", version: "2.0", value: ("body_height", "cm")),
        "blood_glucose": BodySchema(name: "blood-glucose", version: "4.0", value: ("blood_glucose", "mg/dL")),
        "steps": BodySchema(
            name: "step-count", version: "3.0", value: ("step_count", "steps"), needsInterval: true),
        "sport": BodySchema(namespace: ieee, name: "physical-activity", version: "1.0", needsInterval: true),
    ]

    private static let ieee = "ieee"

    /// The schema for a sample; `nil` if there is none for its metric.
    static func of(_ sample: Sample) -> BodySchema? {
        guard case .sleep = sample.reading else { return rows[sample.metric.rawValue] }
        let name = sample.minutesOnlyInBed == nil ? "sleep-stage-summary" : "time-in-bed"
        return BodySchema(namespace: ieee, name: name, version: "1.0", needsInterval: true)
    }
}

extension JSONWriter {
    fileprivate mutating func values(of sample: Sample, by schema: BodySchema) {
        if let (member, unit) = schema.value, let value = sample.value {
            key(escaping: member)
            number(value, unit)
        }
        switch sample.reading {
        case .value: qualities(of: sample)
        case .bloodPressure(let pressure):
            quantity("systolic_blood_pressure", pressure.systolic, "mmHg")
            quantity("diastolic_blood_pressure", pressure.diastolic, "mmHg")
        case .count: break
        case .sleep(let sleep):
            if let minutes = sample.minutesOnlyInBed {
                quantity("time_in_bed", minutes, "min")
            } else {
                stages(of: sleep)
            }
        case .sport(let sport):
            member("activity_name", sport.activity)
            quantity("duration", sample.value, "min")
            quantity("distance", sport.distance, "m")
            quantity("kcal_burned", sport.energy, "kcal")
            quantity("base_movement_quantity", sport.steps.map { Double($0) }, "steps")
        }
    }

    /// What the schemas have words for. They take no others.
    private mutating func qualities(of sample: Sample) {
        switch sample.kind {
        case .maximum: member("descriptive_statistic", "maximum")
        case .minimum: member("descriptive_statistic", "minimum")
        case .normal, .resting: break
        }
        if sample.isResting {
            member("temporal_relationship_to_physical_activity", "at rest")
        } else if sample.isExercise == true {
            member("temporal_relationship_to_physical_activity", "during exercise")
        }
        if let fluid = sample.qualifiers[.specimen],
            ["capillary_blood", "interstitial_fluid", "tears"].contains(fluid)
        {
            member("specimen_source", fluid.replacing("_", with: " "))
        }
        switch sample.qualifiers[.meal] {
        case "fasting"?: member("temporal_relationship_to_meal", "fasting")
        case "before"?: member("temporal_relationship_to_meal", "before meal")
        case "after"?: member("temporal_relationship_to_meal", "after meal")
        case "bedtime"?: member("temporal_relationship_to_sleep", "before sleeping")
        default: break
        }
    }

    private static let durations: [(Sleep.Stage.Depth, StaticString)] = [
        (.deep, "deep_sleep_duration"), (.light, "light_sleep_duration"), (.rem, "rem_sleep_duration"),
        (.awake, "awake_duration"),
    ]

    private mutating func stages(of sleep: Sleep) {
        // The words of IEEE 1752.1 by ours; another depth has none.
        let words = [
            "deep": "Deep_sleep", "light": "Light_sleep", "rem": "REM_sleep", "awake": "Awake",
            "asleep": "Unknown_sleep",
        ]
        let depths = sleep.depths
        member("sleep_stage_summary") { summary in
            summary.quantity("total_sleep_time", Double(sleep.minutesAsleep), "min")
            // Nothing is said of a depth that the device may not know.
            for (depth, name) in Self.durations where depths.contains(depth) {
                summary.quantity(name, Double(sleep.minutes(depth)), "min")
            }
        }
        guard !sleep.stages.isEmpty else { return }
        member("sleep_stage_episodes", array: sleep.stages.filter { words[$0.depth.rawValue] != nil }) {
            writer, stage in
            writer.beginObject()
            writer.member("sleep_stage_state", words[stage.depth.rawValue])
            writer.timeFrame("sleep_stage_time_frame", isInterval: true, from: stage.start, to: stage.end)
            writer.endObject()
        }
    }

    fileprivate mutating func timeFrame(
        _ key: StaticString, isInterval: Bool = false, from start: Timestamp, to end: Timestamp
    ) {
        member(key) { frame in
            guard isInterval || start != end else { return frame.member("date_time", start.description) }
            frame.member("time_interval") { interval in
                interval.member("start_date_time", start.description)
                interval.member("end_date_time", end.description)
            }
        }
    }

    private mutating func quantity(_ name: StaticString, _ value: Double?, _ unit: String) {
        guard let value else { return }
        key(name)
        number(value, unit)
    }

    private mutating func number(_ value: Double, _ unit: String) {
        beginObject()
        member("value", value)
        member("unit", unit)
        endObject()
    }
}

extension Sleep {
    /// The depths of which it has minutes.
    var depths: Set<Stage.Depth> { Set(stages.map(\.depth)).union(untimed.keys) }
}
