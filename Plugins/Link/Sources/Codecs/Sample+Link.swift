import JSON
import Vitals

extension Sample {
    private enum ParamsKey: String, CaseIterable {
        case sample
        static let words = JSONWords(of: ParamsKey.self)
    }

    /// Reads the parameters of `sample`: `{sample: {…}}`.
    init(inParams reader: inout JSONReader) throws(Malformed) {
        var members: SampleMembers?
        do {
            try reader.beginObject()
            while try reader.nextKey(in: ParamsKey.words) != nil { members = try SampleMembers(from: &reader) }
        } catch {
            throw Malformed(error)
        }
        guard let members else { throw Malformed("sample is missing") }
        try self.init(members)
    }

    /// Reads a sample object.
    init(link reader: inout JSONReader) throws(Malformed) {
        let members: SampleMembers
        do {
            members = try SampleMembers(from: &reader)
        } catch {
            throw Malformed(error)
        }
        try self.init(members)
    }

    /// A sample of these members, if they make one that can be true (`Sample.isValid`).
    init(_ members: SampleMembers) throws(Malformed) {
        guard let metric = members.metric else { throw Malformed("metric is missing or unknown") }
        guard let start = members.start else { throw Malformed("start is missing") }
        guard let kind = members.kind else { throw Malformed("kind is unknown") }
        self.init(
            metric: metric, start: Timestamp(milliseconds: start),
            end: Timestamp(milliseconds: members.end ?? start), kind: kind,
            isUserInitiated: members.isUserInitiated, isExercise: metric == .heartRate ? members.isExercise : nil,
            revision: members.revision, user: members.user, reading: try members.reading(of: metric))
        if !isValid, let violation = violations.first { throw Malformed(violation) }
    }
}

extension SampleMembers {
    fileprivate func reading(of metric: Metric) throws(Malformed) -> Reading {
        switch metric {
        case .heartRate, .restingHeartRate, .bloodOxygen, .stress, .temperature:
            return .value(try number)
        case .bloodPressure:
            guard let systolic, let diastolic else { throw Malformed("systolic or diastolic is missing") }
            return .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic, pulse: pulse))
        case .steps:
            let number = try number
            guard let count = Int(exactly: number) else { throw Malformed("value must be a whole number of steps") }
            return .steps(Steps(count: count, distance: distance, energy: energy))
        case .sleep:
            guard let stages else { throw Malformed("stages are missing") }
            return .sleep(Sleep(stages: stages))
        case .sport:
            guard let activity else { throw Malformed("activity is missing") }
            return .sport(
                Sport(
                    activity: activity, distance: distance, energy: energy, steps: steps,
                    minimumHeartRate: minimumHeartRate, averageHeartRate: averageHeartRate,
                    maximumHeartRate: maximumHeartRate))
        case .battery: throw Malformed("metric battery has a notification of its own")
        }
    }

    private var number: Double {
        get throws(Malformed) {
            guard let value else { throw Malformed("value is missing") }
            return value
        }
    }
}
