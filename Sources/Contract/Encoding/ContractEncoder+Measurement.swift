package import JSON
import MQTT
package import Vitals

extension ContractEncoder {
    /// Bytes of a measurement's payload without its samples, and of one plain sample, for a single allocation.
    private static let room = (payload: 512, sample: 320)

    mutating func measurement(
        _ measurement: Fact.Measurement, of device: DeviceID, person: String?, sequence: Int64,
        publishedAt: Timestamp, isReplay: Bool, part: (number: Int, of: Int) = (1, 1)
    ) -> OutgoingMessage {
        let topic = Topic.measurement(device, measurement.metric)
        var writer = JSONWriter(
            reservingCapacity: Self.room.payload + measurement.samples.count * Self.room.sample)
        writer.beginObject()
        writer.member("schema", PayloadSchema.measurement.rawValue)
        writer.member("gateway", topics.gateway.text)
        writer.member("device", device.text)
        writer.member("person", person)
        writer.member("metric", measurement.metric.rawValue)
        writer.member("unit", measurement.metric.unit)
        writer.member("source", (isReplay ? .replay : measurement.source).rawValue)
        writer.member("historical", measurement.isHistorical || isReplay)
        writer.member("seq", sequence)
        writer.member("part", part.number)
        writer.member("parts", part.of)
        writer.member("published_at", publishedAt)
        writer.key("samples")
        writer.beginArray()
        for stored in measurement.samples { write(stored, to: &writer) }
        writer.endArray()
        writer.endObject()
        return .json(
            topic: topics.topic(topic), payload: writer.bytes, isRetained: topic.isRetained, expiry: topic.expiry)
    }

    /// Writes a sample in the form of measurements, days and answers. This is the hot path: it allocates no
    /// intermediate values.
    /// - Parameter person: the person of a user slot. If given, the sample itself names its person, since the message
    ///   around it does not.
    mutating func write(
        _ stored: StoredSample, person: ((_ user: Int?) -> String?)? = nil, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        members(of: stored, to: &writer)
        if let person { writer.member("person", person(stored.sample.user)) }
        writer.endObject()
    }

    /// Writes a sample as an object of its own, with what the message around it says of it elsewhere.
    package mutating func line(
        of stored: StoredSample, device: DeviceID, person: String?, to writer: inout JSONWriter
    ) {
        let metric = stored.sample.metric
        writer.beginObject()
        writer.member("device", device.text)
        writer.member("person", person)
        writer.member("metric", metric.rawValue)
        writer.member("unit", metric.unit)
        members(of: stored, to: &writer)
        writer.endObject()
    }

    private mutating func members(of stored: StoredSample, to writer: inout JSONWriter) {
        let sample = stored.sample
        writer.member("id", stored.id)
        writer.member("rev", stored.revision)
        writer.member("start", sample.start)
        writer.member("end", sample.end)
        writer.member("utc_offset_min", sample.utcOffset.map { Int($0) } ?? offsets.minutes(at: sample.start))
        writer.member("value", sample.value)
        writer.key("fields")
        writer.fields(of: sample)
        writer.member("kind", sample.kind.rawValue)
        writer.member("user_initiated", sample.isUserInitiated)
        if sample.metric.distinguishesExercise { writer.member("exercise", sample.isExercise) }
        if sample.metric.isInterval || stored.isWithdrawn { writer.member("withdrawn", stored.isWithdrawn) }
        writer.member("received_at", stored.receivedAt)
    }
}

extension JSONWriter {
    /// Writes the parts of a sample beyond its value: its `fields`, or `null`.
    mutating func fields(of sample: Sample) {
        switch sample.reading {
        case .value: write(sample.qualifiers, of: sample.metric)
        case .bloodPressure(let pressure): write(pressure)
        case .count(let increment):
            guard sample.metric.hasMovement else { return write(sample.qualifiers, of: sample.metric) }
            beginObject()
            member("distance_m", increment.distance)
            member("energy_kcal", increment.energy)
            endObject()
        case .sleep(let sleep): write(sleep)
        case .sport(let sport): write(sport)
        }
    }

    /// Writes the words of all qualifiers of a metric, or `null` if it has none.
    private mutating func write(_ words: [Qualifier: String], of metric: Metric) {
        let known = metric.qualifiers
        guard !known.isEmpty else { return null() }
        beginObject()
        for description in known {
            key(escaping: description.qualifier.rawValue)
            if let word = words[description.qualifier] { string(word) } else { null() }
        }
        endObject()
    }

    /// Writes a blood pressure.
    mutating func write(_ pressure: BloodPressure) {
        beginObject()
        member("systolic", pressure.systolic)
        member("diastolic", pressure.diastolic)
        member("pulse", pressure.pulse)
        endObject()
    }

    private mutating func write(_ sleep: Sleep) {
        beginObject()
        member("stages", array: sleep.stages) { writer, stage in
            writer.beginObject()
            writer.member("stage", stage.depth.rawValue)
            writer.member("start", stage.start)
            writer.member("end", stage.end)
            writer.endObject()
        }
        member("deep_min", sleep.minutes(.deep))
        member("light_min", sleep.minutes(.light))
        member("rem_min", sleep.minutes(.rem))
        member("awake_min", sleep.minutes(.awake))
        member("asleep_min", sleep.minutes(.asleep))
        member("in_bed_min", sleep.minutes(.inBed))
        endObject()
    }

    private mutating func write(_ sport: Sport) {
        beginObject()
        member("activity", sport.activity)
        member("distance_m", sport.distance)
        member("energy_kcal", sport.energy)
        member("steps", sport.steps)
        member("heart_rate_min", sport.minimumHeartRate)
        member("heart_rate_avg", sport.averageHeartRate)
        member("heart_rate_max", sport.maximumHeartRate)
        if !sport.laps.isEmpty {
            member("laps", array: sport.laps) { writer, lap in
                writer.beginObject()
                writer.member("start", lap.start)
                writer.member("end", lap.end)
                writer.member("distance_m", lap.distance)
                writer.member("energy_kcal", lap.energy)
                writer.member("heart_rate_avg", lap.averageHeartRate)
                writer.member("heart_rate_max", lap.maximumHeartRate)
                writer.endObject()
            }
        }
        endObject()
    }
}
