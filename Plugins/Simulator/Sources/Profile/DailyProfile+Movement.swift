import Vitals

extension DailyProfile {
    /// The steps of an interval of this day: those of walks and workouts, and a few of housework while the person is
    /// up.
    func steps(from start: Timestamp, to end: Timestamp) -> Increment {
        var count = 0
        var distance = 0.0
        var energy = 0.0
        for activity in activities where activity.start < end && start < activity.end {
            let steps = activity.steps(until: end) - activity.steps(until: start)
            let overlap = min(end, activity.end) - max(start, activity.start)
            count += steps
            distance += Double(steps) * person.stride * activity.kind.stride
            energy += activity.kind.metabolicEquivalent * person.weight * overlap.inMinutes / 60
        }
        let housework = housework(from: start, to: end)
        count += housework
        distance += Double(housework) * person.stride
        // Walking costs about 0.75 kcal per kilogram and kilometre.
        energy += Double(housework) * person.stride / 1000 * person.weight * 0.75
        return Increment(count: count, distance: distance.rounded(), energy: (energy * 10).rounded() / 10)
    }

    /// A workout as a device summarises it, with heart rates every five seconds.
    func sport(_ workout: Activity) -> Sport {
        var (lowest, highest, sum, count) = (Double.infinity, 0.0, 0.0, 0.0)
        var moment = workout.start
        while moment <= workout.end {
            let rate = heartRate(at: moment)
            lowest = min(lowest, rate)
            highest = max(highest, rate)
            sum += rate
            count += 1
            moment = moment + Self.heartRateStep
        }
        let hours = (workout.end - workout.start).inMinutes / 60
        let distance: Double? =
            switch workout.kind {
            case .strength: nil
            // 16 to 29 km/h, depending on effort.
            case .cycling: (workout.effort * 40_000 * hours).rounded()
            default: (Double(workout.steps) * person.stride * workout.kind.stride).rounded()
            }
        return Sport(
            activity: workout.kind.rawValue, distance: distance,
            energy: (workout.kind.metabolicEquivalent * person.weight * hours).rounded(),
            steps: workout.kind == .cycling ? nil : workout.steps, minimumHeartRate: lowest,
            averageHeartRate: (sum / count).rounded(), maximumHeartRate: highest)
    }

    /// The sampling interval of the heart rate in a workout.
    static let heartRateStep = Duration.seconds(5)

    /// The resting heart rate as a device computes it: the lowest half-hour mean of the night.
    var restingHeartRate: Double {
        let step = Duration.minutes(5)
        var rates: [Double] = []
        var moment = night.start
        while moment < night.end {
            rates.append(heartRate(at: moment))
            moment = moment + step
        }
        let span = min(6, rates.count)
        var sum = rates[..<span].reduce(0, +)
        var lowest = sum
        for place in span..<rates.count {
            sum += rates[place] - rates[place - span]
            lowest = min(lowest, sum)
        }
        return (lowest / Double(span)).rounded()
    }

    private func housework(from start: Timestamp, to end: Timestamp) -> Int {
        let up = max(start, night.end)
        let down = min(end, nextNight.start)
        guard up < down else { return 0 }
        let asleep = nap.map { max(.zero, min(down, $0.end) - max(up, $0.start)) } ?? .zero
        let key = start.milliseconds
        guard person.noise.happens(.housework, key, probability: 0.7) else { return 0 }
        return Int(person.noise.number(.housework, ~key, in: 0...4) * (down - up - asleep).inMinutes)
    }
}
