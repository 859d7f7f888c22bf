import Vitals

extension DeviceState {
    /// A record's sample; `nil` if the device recorded nothing, because it was not worn or there is no value.
    mutating func sample(of metric: Metric, _ record: Record) -> Sample? {
        switch record.content {
        case .measured(let sample): return sample
        case .measurement(let user):
            let place = model.users.firstIndex(of: user) ?? 0
            let profile = bodies[place].profile(at: record.end)
            guard let reading = Self.spots[metric]?(profile, record.end, model) else { return nil }
            return Sample(
                metric: metric, start: record.start, end: record.end, isUserInitiated: true, user: user,
                reading: reading)
        case .moment:
            guard isWorn(at: record.start) else { return nil }
            return spot(of: metric, at: record.start, isUserInitiated: model == .oximeter)
        case .steps:
            // A quarter of an hour counts if the device was worn at its start or its end.
            guard isWorn(at: record.start) || isWorn(at: record.end) else { return nil }
            let steps = bodies[0].profile(at: record.start).steps(from: record.start, to: record.end)
            return steps.count > 0
                ? Sample(metric: metric, start: record.start, end: record.end, reading: .count(steps)) : nil
        case .sleep(let night):
            guard isWorn(at: record.start), isWorn(at: record.end) else { return nil }
            return Sample(
                metric: metric, start: record.start, end: record.end, reading: .sleep(night.sleep(options.sleep)))
        case .rest:
            guard isWorn(at: record.end) else { return nil }
            let rate = bodies[0].profile(at: record.end).restingHeartRate
            return Sample(metric: metric, start: record.start, kind: .resting, reading: .value(rate))
        case .workout(let workout):
            guard isWorn(at: record.start), isWorn(at: record.end) else { return nil }
            let sport = bodies[0].profile(at: record.start).sport(workout)
            return Sample(metric: metric, start: record.start, end: record.end, reading: .sport(sport))
        }
    }

    /// The readings of the metrics that are measured at one moment.
    private static let spots: [Metric: @Sendable (DailyProfile, Timestamp, Model) -> Reading] = [
        .heartRate: { profile, moment, _ in .value(profile.heartRate(at: moment)) },
        .bloodPressure: { profile, moment, model in
            .bloodPressure(profile.pressure(at: moment, withPulse: model == .cuff))
        },
        .bloodOxygen: { profile, moment, _ in .value(profile.oxygen(at: moment)) },
        .stress: { profile, moment, _ in .value(profile.stress(at: moment)) },
        .temperature: { profile, moment, _ in .value(profile.temperature(at: moment)) },
        .heartRateVariability: { profile, moment, _ in .value(profile.variability(at: moment)) },
        .respiratoryRate: { profile, moment, _ in .value(profile.breaths(at: moment)) },
        .skinTemperature: { profile, moment, _ in .value(profile.skinTemperature(at: moment)) },
        .weight: { profile, moment, _ in .value(profile.weight(at: moment)) },
        .bloodGlucose: { profile, moment, _ in .value(profile.glucose(at: moment)) },
    ]

    /// A value of the first user's body at a moment.
    mutating func spot(of metric: Metric, at moment: Timestamp, isUserInitiated: Bool) -> Sample? {
        let profile = bodies[0].profile(at: moment)
        guard let reading = Self.spots[metric]?(profile, moment, model) else { return nil }
        let isExercise =
            metric.distinguishesExercise && model.distinguishesExercise ? profile.workout(at: moment) != nil : nil
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
