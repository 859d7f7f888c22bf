import JSON
import Vitals

/// Reads the answer to `summary/read`: a device's own daily objects, with the members of the gateway's MQTT contract.
/// Their samples may have the form of that contract (RFC 3339 times, `fields`) or of Vitals Link.
struct SummaryDecoder {
    /// The device, from which the samples' ids are computed.
    let device: DeviceID
    /// The requested metric.
    let metric: Metric
    /// When the answer arrived.
    let receivedAt: Timestamp

    /// The highest daily count accepted: one per millisecond, so that sums of counts cannot overflow.
    private static let maximumCount = 86_400_000

    /// All days of an answer, ascending; `nil` if the answer or any of its days is malformed.
    func summaries(in answer: JSONValue) -> [DailySummary]? {
        guard let days = answer["days"]?.asArray else { return nil }
        var result: [DailySummary] = []
        for value in days {
            guard let summary = summary(value) else { return nil }
            result.append(summary)
        }
        return result.sorted { $0.day < $1.day }
    }

    private func summary(_ value: JSONValue) -> DailySummary? {
        if let name = value["metric"], name.asString != metric.rawValue { return nil }
        guard let day = value["date"]?.asString.flatMap({ LocalDay($0) }), let details = details(value) else {
            return nil
        }
        let manual = count(value, "manual_count")
        let total = value["count"].map { _ in count(value, "count") } ?? (manual + count(value, "auto_count"))
        return DailySummary(
            metric: metric, day: day, count: max(total, manual), manualCount: manual,
            average: value["average"]?.asDouble, details: details)
    }

    private func details(_ value: JSONValue) -> DailySummary.Details? {
        guard metric.hasHistory else { return nil }
        switch metric.shape {
        case .value:
            let resting = value["resting"]?.asArray ?? []
            return .values(
                .init(
                    maximum: item(value["maximum"]), minimum: item(value["minimum"]),
                    resting: resting.compactMap { item($0) }.sorted { $0.sample.start < $1.sample.start }))
        case .pressure:
            return .bloodPressure(
                .init(
                    maximumSystolic: item(value["maximum_systolic"]), minimumSystolic: item(value["minimum_systolic"]),
                    maximumDiastolic: item(value["maximum_diastolic"]),
                    minimumDiastolic: item(value["minimum_diastolic"]), average: pressure(value["average"])))
        case .count:
            let total = value["total"]?.asDouble ?? 0
            return .count(
                total: total.isFinite ? min(max(total, 0), Double(Self.maximumCount)) : 0,
                distance: value["distance_m"]?.asDouble, energy: value["energy_kcal"]?.asDouble)
        case .sleep:
            return .sleep(
                .init(
                    asleep: count(value, "total"), deep: count(value, "deep_min"), light: count(value, "light_min"),
                    rem: count(value, "rem_min"), awake: count(value, "awake_min"),
                    unstaged: count(value, "asleep_min"), inBed: count(value, "in_bed_min"),
                    start: moment(value["start"]), end: moment(value["end"])))
        case .session:
            return .sport(
                .init(
                    minutes: count(value, "total"), sessions: count(value, "sessions"),
                    distance: value["distance_m"]?.asDouble, energy: value["energy_kcal"]?.asDouble))
        }
    }

    private func count(_ value: JSONValue, _ key: String) -> Int {
        min(max(value[key]?.asInt ?? 0, 0), Self.maximumCount)
    }

    private func pressure(_ value: JSONValue?) -> BloodPressure? {
        guard let systolic = value?["systolic"]?.asDouble, let diastolic = value?["diastolic"]?.asDouble else {
            return nil
        }
        return BloodPressure(systolic: systolic, diastolic: diastolic, pulse: value?["pulse"]?.asDouble)
    }

    /// A moment, from milliseconds or RFC 3339 text.
    private func moment(_ value: JSONValue?) -> Timestamp? {
        value?.asInt64.map { Timestamp(milliseconds: $0) } ?? value?.asString.flatMap { Timestamp(rfc3339: $0) }
    }

    /// A sample of a day; `nil` if it is absent or not a valid sample.
    private func item(_ value: JSONValue?) -> StoredSample? {
        guard let value, value.asObject != nil else { return nil }
        var reader = JSONReader(onLink(value).bytes)
        guard let sample = try? Sample(link: &reader) else { return nil }
        return StoredSample(
            sample: sample, of: device, revision: sample.revision ?? 1,
            receivedAt: receivedAt)
    }

    /// Converts a sample to the form of Vitals Link: no nested `fields`, times in milliseconds.
    private func onLink(_ value: JSONValue) -> JSONValue {
        var members: [JSONValue.Member] = [.init("metric", .string(metric.rawValue))]
        for member in (value.asObject ?? []) + (value["fields"]?.asObject ?? []) {
            switch (member.key, member.value) {
            case ("fields", _), ("metric", _): continue
            case ("start", let time), ("end", let time):
                members.append(.init(member.key, moment(time).map { .number(Double($0.milliseconds)) } ?? .null))
            default: members.append(member)
            }
        }
        return .object(members)
    }
}
