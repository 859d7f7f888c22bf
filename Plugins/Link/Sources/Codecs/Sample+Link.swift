import JSON
import Vitals

extension Sample {
    private enum ParamsKey: String, CaseIterable {
        case sample
        static let words = JSONWords(of: ParamsKey.self)
    }

    /// Reads the parameters of `sample`: `{sample: {…}}`. The sample may be impossible: the gateway counts and refuses it.
    init(inParams reader: inout JSONReader) throws(Malformed) {
        var members: SampleMembers?
        do {
            try reader.beginObject()
            while try reader.nextKey(in: ParamsKey.words) != nil { members = try SampleMembers(from: &reader) }
        } catch {
            throw Malformed(error)
        }
        guard let members else { throw Malformed("sample is missing") }
        try self.init(unchecked: members)
    }

    /// Reads a sample object; the sample may be impossible.
    init(unchecked reader: inout JSONReader) throws(Malformed) {
        let members: SampleMembers
        do {
            members = try SampleMembers(from: &reader)
        } catch {
            throw Malformed(error)
        }
        try self.init(unchecked: members)
    }

    /// Reads a sample object that must be possible (`Sample.isValid`).
    init(link reader: inout JSONReader) throws(Malformed) {
        try self.init(unchecked: &reader)
        try requireValid()
    }

    /// Throws if the sample is impossible.
    func requireValid() throws(Malformed) {
        if !isValid, let violation = violations.first { throw Malformed(violation) }
    }

    /// Creates a sample of these members; it may be impossible.
    init(unchecked members: SampleMembers) throws(Malformed) {
        guard let metric = members.metric else { throw Malformed("metric is missing or unknown") }
        guard let start = members.start else { throw Malformed("start is missing") }
        guard let kind = members.kind else { throw Malformed("kind is unknown") }
        self.init(
            metric: metric, start: Timestamp(milliseconds: start),
            end: Timestamp(milliseconds: members.end ?? start), kind: kind,
            isUserInitiated: members.isUserInitiated,
            isExercise: metric.distinguishesExercise ? members.isExercise : nil,
            revision: members.revision, user: members.user,
            qualifiers: members.words(of: metric),
            reading: try members.reading(of: metric))
    }
}

extension SampleMembers {
    /// The words of the metric's qualifiers. Most samples have none.
    fileprivate func words(of metric: Metric) -> [Qualifier: String] {
        guard !metric.qualifiers.isEmpty else { return [:] }
        var words = qualifiers.filter { metric.has($0.key) }
        if metric.has(.activity) { words[.activity] = activity }
        return words
    }

    fileprivate func reading(of metric: Metric) throws(Malformed) -> Reading {
        if !metric.hasHistory { throw Malformed("metric \(metric.rawValue) has a notification of its own") }
        switch metric.shape {
        case .value: return .value(try number)
        case .pressure:
            guard let systolic, let diastolic else { throw Malformed("systolic or diastolic is missing") }
            return .bloodPressure(BloodPressure(systolic: systolic, diastolic: diastolic, pulse: pulse))
        case .count:
            let number = try number
            if metric.hasMovement {
                guard let count = Int(exactly: number) else {
                    throw Malformed("value must be a whole number of \(metric.unit ?? "units")")
                }
                return .count(Increment(count: count, distance: distance, energy: energy))
            }
            // Only a negative amount, or one beyond all that is plausible, is none: the gateway counts and refuses it.
            return .count(Increment(amount: number) ?? Increment(count: number < 0 ? -1 : .max))
        case .sleep:
            if stages == nil, minutes == nil { throw Malformed("stages or minutes are missing") }
            return .sleep(Sleep(stages: stages ?? [], untimed: minutes ?? [:]))
        case .session:
            guard let activity else { throw Malformed("activity is missing") }
            return .sport(
                Sport(
                    activity: activity, distance: distance, energy: energy, steps: steps,
                    minimumHeartRate: minimumHeartRate, averageHeartRate: averageHeartRate,
                    maximumHeartRate: maximumHeartRate))
        }
    }

    private var number: Double {
        get throws(Malformed) {
            guard let value else { throw Malformed("value is missing") }
            return value
        }
    }
}
