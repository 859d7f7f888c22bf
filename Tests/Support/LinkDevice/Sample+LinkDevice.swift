package import JSON
package import Vitals

extension JSONWriter {
    /// Writes a sample in the device's format of Vitals Link.
    package mutating func linkSample(_ sample: Sample) {
        beginObject()
        member("metric", sample.metric.rawValue)
        member("start", sample.start.milliseconds)
        member("end", sample.end.milliseconds)
        member("kind", sample.kind.rawValue)
        member("user_initiated", sample.isUserInitiated)
        if let isExercise = sample.isExercise { member("exercise", isExercise) }
        if let revision = sample.revision { member("rev", revision) }
        if let user = sample.user { member("user", user) }
        for (qualifier, word) in sample.qualifiers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            key(escaping: qualifier.rawValue)
            string(word)
        }
        switch sample.reading {
        case .value(let value): member("value", value)
        case .bloodPressure(let pressure):
            member("systolic", pressure.systolic)
            member("diastolic", pressure.diastolic)
            if let pulse = pressure.pulse { member("pulse", pulse) }
        case .count(let increment):
            member("value", increment.amount)
            member("distance_m", increment.distance)
            member("energy_kcal", increment.energy)
        case .sleep(let sleep):
            member("stages", array: sleep.stages) { writer, stage in
                writer.beginObject()
                writer.member("stage", stage.depth.rawValue)
                writer.member("start", stage.start.milliseconds)
                writer.member("end", stage.end.milliseconds)
                writer.endObject()
            }
            guard !sleep.untimed.isEmpty else { break }
            member("minutes") { writer in
                for (depth, minutes) in sleep.untimed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    writer.key(escaping: depth.rawValue)
                    writer.int(minutes)
                }
            }
        case .sport(let sport):
            member("activity", sport.activity)
            member("distance_m", sport.distance)
            member("energy_kcal", sport.energy)
            member("steps", sport.steps)
            member("heart_rate_min", sport.minimumHeartRate)
            member("heart_rate_avg", sport.averageHeartRate)
            member("heart_rate_max", sport.maximumHeartRate)
        }
        endObject()
    }

    /// Writes a line with a live sample: a notification, or with an id a request that is answered after the commit.
    package mutating func linkSampleLine(_ sample: Sample, id: Int? = nil) {
        beginObject()
        member("jsonrpc", "2.0")
        if let id { member("id", id) }
        member("method", "sample")
        member("params") { params in
            params.key("sample")
            params.linkSample(sample)
        }
        endObject()
        newline()
    }
}
