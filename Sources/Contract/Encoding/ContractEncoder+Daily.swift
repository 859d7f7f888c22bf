import JSON
package import MQTT
package import Vitals

extension ContractEncoder {
    /// The current local day of a metric: a state, so it has no number.
    package mutating func today(_ record: DayRecord, of device: DeviceID) -> OutgoingMessage {
        day(record, sequence: nil, to: .today(device, record.summary.metric))
    }

    mutating func day(_ record: DayRecord, sequence: Int64?, to topic: Topic) -> OutgoingMessage {
        var writer = JSONWriter(reservingCapacity: 2048)
        write(record, sequence: sequence, to: &writer)
        return .json(
            topic: topics.topic(topic), payload: writer.bytes, isRetained: topic.isRetained, expiry: topic.expiry)
    }

    /// Writes a day for its topics and for answers.
    /// - Parameters:
    ///   - items: the day's samples, if an answer lists them.
    ///   - info: the device, for the persons of these samples.
    mutating func write(
        _ record: DayRecord, sequence: Int64?, items: ItemisedDay? = nil, of info: DeviceInfo? = nil,
        to writer: inout JSONWriter
    ) {
        let summary = record.summary
        writer.beginObject()
        writer.member("schema", PayloadSchema.daily.rawValue)
        writer.member("metric", summary.metric.rawValue)
        writer.key("date")
        writer.quoted { summary.day.append(to: &$0) }
        writer.member("tz", offsets.calendar.identifier)
        writer.member("day_start", offsets.calendar.bounds(of: summary.day).lowerBound)
        writer.member("rev", record.revision)
        writer.member("final", record.isFinal)
        writer.member("updated_at", record.updatedAt)
        writer.member("seq", sequence)
        write(summary, to: &writer)
        writer.key("device_summary")
        if let own = record.deviceSummary {
            writer.beginObject()
            write(own, to: &writer)
            writer.endObject()
        } else {
            writer.null()
        }
        if let items {
            write("manual_items", items.manual, of: info, to: &writer)
            write("auto_items", items.automatic, of: info, to: &writer)
            writer.member("next_page", items.next)
        }
        writer.endObject()
    }

    private mutating func write(
        _ key: StaticString, _ samples: [StoredSample], of info: DeviceInfo?, to writer: inout JSONWriter
    ) {
        writer.key(key)
        writer.beginArray()
        for stored in samples { write(stored, person: { info?.person(user: $0) }, to: &writer) }
        writer.endArray()
    }

    /// Writes the members of a summary: first those common to all metrics, then those of its kind.
    private mutating func write(_ summary: DailySummary, to writer: inout JSONWriter) {
        writer.member("count", summary.count)
        writer.member("manual_count", summary.manualCount)
        writer.member("auto_count", summary.automaticCount)
        var extremes = DailySummary.Extremes()
        if case .values(let own) = summary.details { extremes = own }
        if case .bloodPressure(let own) = summary.details, let average = own.average {
            writer.key("average")
            writer.write(average)
        } else {
            writer.member("average", summary.average)
        }
        write("maximum", extremes.maximum, to: &writer)
        write("minimum", extremes.minimum, to: &writer)
        writer.key("resting")
        writer.beginArray()
        for stored in extremes.resting { write(stored, to: &writer) }
        writer.endArray()
        switch summary.details {
        case .values: if summary.metric.distinguishesExercise { writer.member("zones_min", summary.zones) }
        case .bloodPressure(let extremes):
            write("maximum_systolic", extremes.maximumSystolic, to: &writer)
            write("minimum_systolic", extremes.minimumSystolic, to: &writer)
            write("maximum_diastolic", extremes.maximumDiastolic, to: &writer)
            write("minimum_diastolic", extremes.minimumDiastolic, to: &writer)
        case .steps(let count, let distance, let energy):
            writer.member("total", count)
            writer.member("distance_m", distance)
            writer.member("energy_kcal", energy)
        case .sleep(let totals): writer.members(of: totals)
        case .sport(let totals): writer.members(of: totals)
        }
    }

    private mutating func write(_ key: StaticString, _ stored: StoredSample?, to writer: inout JSONWriter) {
        writer.key(key)
        if let stored { write(stored, to: &writer) } else { writer.null() }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of totals: DailySummary.SleepTotals) {
        member("total", totals.asleep)
        member("deep_min", totals.deep)
        member("light_min", totals.light)
        member("rem_min", totals.rem)
        member("awake_min", totals.awake)
        member("start", totals.start)
        member("end", totals.end)
    }

    fileprivate mutating func members(of totals: DailySummary.SportTotals) {
        member("total", totals.minutes)
        member("sessions", totals.sessions)
        member("distance_m", totals.distance)
        member("energy_kcal", totals.energy)
        member("workouts", array: totals.workouts) { writer, workout in
            writer.beginObject()
            writer.member("id", workout.id)
            writer.member("start", workout.start)
            writer.member("end", workout.end)
            writer.member("activity", workout.activity)
            writer.member("zones_min", workout.zones)
            writer.endObject()
        }
    }

    /// Writes the minutes in each heart-rate zone, or `null`.
    fileprivate mutating func member(_ key: StaticString, _ zones: HeartRateZones?) {
        guard let zones else {
            self.key(key)
            return null()
        }
        member(key, array: zones.minutes) { $0.double($1) }
    }
}
