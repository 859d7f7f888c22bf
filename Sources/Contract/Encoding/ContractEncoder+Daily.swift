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
        writer.beginObject()
        members(of: record, sequence: sequence, items: items, of: info, to: &writer)
        writer.endObject()
    }

    mutating func members(
        of record: DayRecord, sequence: Int64?, items: ItemisedDay? = nil, of info: DeviceInfo? = nil,
        to writer: inout JSONWriter
    ) {
        let summary = record.summary
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
        writer.member("device_summary", record.deviceSummary) { writer, own in
            writer.beginObject()
            write(own, to: &writer)
            writer.endObject()
        }
        if let items {
            let person: (Int?) -> String? = { info?.person(user: $0) }
            writer.member("manual_items", array: items.manual) { write($1, person: person, to: &$0) }
            writer.member("auto_items", array: items.automatic) { write($1, person: person, to: &$0) }
            writer.member("next_page", items.next)
        }
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
        writer.member("maximum", extremes.maximum) { write($1, to: &$0) }
        writer.member("minimum", extremes.minimum) { write($1, to: &$0) }
        writer.member("resting", array: extremes.resting) { write($1, to: &$0) }
        switch summary.details {
        case .values: if summary.metric.distinguishesExercise { writer.member("zones_min", summary.zones) }
        case .bloodPressure(let extremes):
            writer.member("maximum_systolic", extremes.maximumSystolic) { write($1, to: &$0) }
            writer.member("minimum_systolic", extremes.minimumSystolic) { write($1, to: &$0) }
            writer.member("maximum_diastolic", extremes.maximumDiastolic) { write($1, to: &$0) }
            writer.member("minimum_diastolic", extremes.minimumDiastolic) { write($1, to: &$0) }
        case .count(let total, let distance, let energy):
            writer.member("total", total)
            guard summary.metric.hasMovement else { return }
            writer.member("distance_m", distance)
            writer.member("energy_kcal", energy)
        case .sleep(let totals): writer.members(of: totals)
        case .sport(let totals): writer.members(of: totals)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of totals: DailySummary.SleepTotals) {
        member("total", totals.asleep)
        member("deep_min", totals.deep)
        member("light_min", totals.light)
        member("rem_min", totals.rem)
        member("awake_min", totals.awake)
        member("asleep_min", totals.unstaged)
        member("in_bed_min", totals.inBed)
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
