import Vitals

/// Creates stored samples of a day for the tests of daily summaries.
enum DailySamples {
    static let day = LocalDay(number: 20_778)
    static let midnight = Timestamp(milliseconds: 20_778 * 86_400_000)

    /// A stored sample `minute` minutes after midnight (UTC) that lasts `length` minutes.
    static func stored(
        _ metric: Metric, at minute: Int, lasting length: Int = 0, kind: Sample.Kind = .normal, isManual: Bool = false,
        _ reading: Reading
    ) -> StoredSample {
        let start = midnight + .minutes(minute)
        let sample = Sample(
            metric: metric, start: start, end: start + .minutes(length), kind: kind, isUserInitiated: isManual,
            reading: reading)
        return StoredSample(
            sample: sample, id: SampleID(name: "\(metric) \(minute) \(length) \(isManual)"), revision: 1,
            receivedAt: start)
    }

    static func value(
        _ value: Double, at minute: Int, metric: Metric = .heartRate, kind: Sample.Kind = .normal,
        isManual: Bool = false
    ) -> StoredSample {
        stored(metric, at: minute, kind: kind, isManual: isManual, .value(value))
    }

    static func pressure(
        _ systolic: Double, _ diastolic: Double, _ pulse: Double? = nil, at minute: Int, kind: Sample.Kind = .normal
    ) -> StoredSample {
        stored(
            .bloodPressure, at: minute, kind: kind,
            .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic, pulse: pulse)))
    }

    /// A sleep with consecutive stages, given with their minutes.
    static func sleep(_ stages: [(Sleep.Stage.Depth, Int)], at minute: Int) -> StoredSample {
        var now = midnight + .minutes(minute)
        let stages = stages.map { depth, minutes in
            defer { now = now + .minutes(minutes) }
            return Sleep.Stage(depth, from: now, to: now + .minutes(minutes))
        }
        let length = stages.reduce(0) { $0 + Int(($1.end - $1.start).inMilliseconds / 60_000) }
        return stored(.sleep, at: minute, lasting: length, .sleep(Sleep(stages: stages)))
    }

    static func summary(_ metric: Metric, _ samples: StoredSample...) -> DailySummary {
        DailySummary(metric: metric, day: day, samples: samples)
    }
}
