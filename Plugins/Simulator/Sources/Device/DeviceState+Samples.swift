import Vitals

extension DeviceState {
    /// A record's sample; `nil` if the device recorded nothing, because it was not worn or there is no value.
    mutating func sample(of metric: Metric, _ record: Record) -> Sample? {
        switch record.content {
        case .measured(let sample): return sample
        case .visit(let user):
            let place = model.users.firstIndex(of: user) ?? 0
            let course = bodies[place].course(at: record.end)
            guard let reading = Self.spots[metric]?(course, record.end, model) else { return nil }
            return Sample(
                metric: metric, start: record.start, end: record.end, isUserInitiated: true, user: user,
                reading: reading)
        case .moment:
            guard isWorn(at: record.start) else { return nil }
            return spot(of: metric, at: record.start, isUserInitiated: model == .oximeter)
        case .steps:
            // A quarter of an hour counts if the device was worn at its start or its end.
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

    /// The readings of the metrics that are measured at one moment.
    private static let spots: [Metric: @Sendable (DayCourse, Timestamp, Model) -> Reading] = [
        .heartRate: { course, moment, _ in .value(course.heartRate(at: moment)) },
        .bloodPressure: { course, moment, model in
            .bloodPressure(course.pressure(at: moment, withPulse: model == .cuff))
        },
        .bloodOxygen: { course, moment, _ in .value(course.oxygen(at: moment)) },
        .stress: { course, moment, _ in .value(course.stress(at: moment)) },
        .temperature: { course, moment, _ in .value(course.temperature(at: moment)) },
        .heartRateVariability: { course, moment, _ in .value(course.variability(at: moment)) },
        .respiratoryRate: { course, moment, _ in .value(course.breaths(at: moment)) },
        .skinTemperature: { course, moment, _ in .value(course.skinTemperature(at: moment)) },
        .weight: { course, moment, _ in .value(course.weight(at: moment)) },
        .bloodGlucose: { course, moment, _ in .value(course.glucose(at: moment)) },
    ]

    /// A value of the first user's body at a moment.
    mutating func spot(of metric: Metric, at moment: Timestamp, isUserInitiated: Bool) -> Sample? {
        let course = bodies[0].course(at: moment)
        guard let reading = Self.spots[metric]?(course, moment, model) else { return nil }
        let isExercise =
            metric.distinguishesExercise && model.distinguishesExercise ? course.workout(at: moment) != nil : nil
        return Sample(
            metric: metric, start: moment, isUserInitiated: isUserInitiated, isExercise: isExercise,
            qualifiers: model.qualifiers(of: metric), reading: reading)
    }

    /// Whether the fault `corrupt_records` has made this record permanently unreadable.
    func isCorrupt(_ sample: Sample) -> Bool {
        let probability = options.faults.corruptRecords
        guard probability > 0 else { return false }
        let noise = Noise(seed: seed ^ Noise.seed(of: sample.metric.rawValue))
        return noise.happens(.corruption, sample.start.milliseconds, probability: probability)
    }
}
