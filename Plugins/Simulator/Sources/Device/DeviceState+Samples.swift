import Vitals

extension DeviceState {
    /// A record's sample; `nil` where the device recorded nothing: it was not worn, or there is nothing to say.
    mutating func sample(of metric: Metric, _ record: Record) -> Sample? {
        switch record.content {
        case .measured(let sample): return sample
        case .pressure(let user):
            let place = model.users.firstIndex(of: user) ?? 0
            let pressure = bodies[place].course(at: record.end).pressure(at: record.end, withPulse: true)
            return Sample(
                metric: metric, start: record.start, end: record.end, isUserInitiated: true, user: user,
                reading: .bloodPressure(pressure))
        case .moment:
            guard isWorn(at: record.start) else { return nil }
            return spot(of: metric, at: record.start, isUserInitiated: model == .oximeter)
        case .steps:
            // A quarter of an hour that began or ended off the body counts only if one of both was on it.
            guard isWorn(at: record.start) || isWorn(at: record.end) else { return nil }
            let steps = bodies[0].course(at: record.start).steps(from: record.start, to: record.end)
            return steps.count > 0
                ? Sample(metric: metric, start: record.start, end: record.end, reading: .steps(steps)) : nil
        case .sleep(let night):
            guard isWorn(at: record.start), isWorn(at: record.end) else { return nil }
            return Sample(
                metric: metric, start: record.start, end: record.end, reading: .sleep(Sleep(stages: night.stages)))
        case .rest:
            guard isWorn(at: record.end) else { return nil }
            let rate = bodies[0].course(at: record.end).restingHeartRate
            return Sample(metric: metric, start: record.start, kind: .resting, reading: .value(rate))
        case .workout(let workout):
            guard isWorn(at: record.start), isWorn(at: record.end) else { return nil }
            let sport = bodies[0].course(at: record.start).sport(workout)
            return Sample(metric: metric, start: record.start, end: record.end, reading: .sport(sport))
        }
    }

    /// A value of the first user's body at a moment.
    mutating func spot(of metric: Metric, at moment: Timestamp, isUserInitiated: Bool) -> Sample? {
        let course = bodies[0].course(at: moment)
        let reading: Reading
        switch metric {
        case .heartRate: reading = .value(course.heartRate(at: moment))
        case .bloodOxygen: reading = .value(course.oxygen(at: moment))
        case .stress: reading = .value(course.stress(at: moment))
        case .temperature: reading = .value(course.temperature(at: moment))
        case .bloodPressure:
            reading = .bloodPressure(course.pressure(at: moment, withPulse: model == .cuff))
        case .restingHeartRate, .steps, .sleep, .sport, .battery: return nil
        }
        let isExercise = metric == .heartRate && model.knowsExercise ? course.workout(at: moment) != nil : nil
        return Sample(
            metric: metric, start: moment, isUserInitiated: isUserInitiated, isExercise: isExercise, reading: reading)
    }

    /// Whether the fault `corrupt_records` has made this record unreadable, for good.
    func isCorrupt(_ sample: Sample) -> Bool {
        let probability = options.faults.corruptRecords
        guard probability > 0 else { return false }
        let noise = Noise(seed: seed ^ Noise.seed(of: sample.metric.rawValue))
        return noise.happens(.corruption, sample.start.milliseconds, probability: probability)
    }
}
