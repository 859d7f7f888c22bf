import Foundation
package import Vitals

/// Finds whose a value of a device for several persons is, where the device does not say it.
///
/// Of each person it takes the values that are nearest in time, at most `memory` within `reach`. Their mean is what is usual: a value
/// counts half as much for each `halfLife` that it is farther away than the nearest one. Their variance, with the least one of the metric and
/// what time adds to it (`MetricDescription.Distinction`), is how far a value may be from that. A person without values has the expected one
/// of the configuration, with twice the spread. The likelihood is that of a normal distribution.
///
/// The likeliest person is taken only if the value lies within `spreads` standard deviations, if the person has `confidence` of all
/// likelihood, which means one error in 200 at most, and if nobody else's usual value is so close that both cannot be told apart. Else it is
/// asked. So it is where a person has neither values nor an expected one, since any value may be that one's.
///
/// The same values give the same result, in any order.
package struct Attribution: Sendable, Hashable {
    /// The most values of a person that count.
    package static let memory = 12
    /// How far away in time they may be.
    package static let reach: Duration = .days(180)
    /// The time in which a value comes to count half as much as another one.
    package static let halfLife: Duration = .days(7)
    /// How many standard deviations a value may be from what is usual for its person.
    package static let spreads = 2.5
    /// Beyond how many of each person it is surely a guest's.
    package static let guestSpreads = 6.0
    /// The least part of all likelihood that the likeliest person must have.
    package static let confidence = 0.995

    /// One who uses the device.
    package struct Person: Sendable, Hashable {
        package var user: Int
        /// The value to begin with, by metric, in its unit.
        package var expected: [Metric: Double]

        package init(user: Int, expected: [Metric: Double] = [:]) { (self.user, self.expected) = (user, expected) }
    }

    /// What becomes of a value that surely fits nobody. The raw value is the word of the configuration.
    package enum Guests: String, CaseIterable, Sendable, Hashable {
        /// It waits for an answer.
        case ask
        /// It is stored, and counts nowhere.
        case drop
    }

    /// A value of a person.
    package struct Known: Sendable, Hashable {
        package var user: Int
        package var at: Timestamp
        package var value: Double

        package init(user: Int, at: Timestamp, value: Double) { (self.user, self.at, self.value) = (user, at, value) }
    }

    /// The result.
    package enum Finding: Sendable, Hashable {
        case user(Int, confidence: Double)
        /// It is not clear: the candidates, the likeliest first.
        case unclear([Int])
        case guest
    }

    package var persons: [Person]
    package var guests: Guests

    package init(_ persons: [Person], guests: Guests = .ask) { (self.persons, self.guests) = (persons, guests) }

    /// Whose a value is.
    /// - Parameter known: values of the same metric, of anybody and in any order.
    package func find(_ value: Double, of metric: Metric, at moment: Timestamp, among known: [Known]) -> Finding {
        guard let distinction = metric.distinction else { return .unclear(everybody) }
        var fits: [Fit] = []
        for person in persons {
            let usual = usual(of: person, metric, distinction, at: moment, known)
            guard let usual else { return .unclear(everybody) }
            let distance = abs(value - usual.mean) / usual.deviation
            fits.append(
                Fit(
                    user: person.user, mean: usual.mean, distance: distance,
                    likelihood: exp(-distance * distance / 2) / usual.deviation))
        }
        fits.sort { ($1.likelihood, $0.distance, $0.user) < ($0.likelihood, $1.distance, $1.user) }
        guard let best = fits.first else { return .unclear([]) }
        if guests == .drop, fits.allSatisfy({ $0.distance > Self.guestSpreads }) { return .guest }
        guard fits.contains(where: { $0.distance <= Self.spreads }) else { return .unclear(fits.map(\.user)) }
        let all = fits.reduce(0) { $0 + $1.likelihood }
        let isClose = fits.dropFirst().contains { abs($0.mean - best.mean) <= distinction.closeness }
        if best.distance <= Self.spreads, best.likelihood / all >= Self.confidence, !isClose {
            return .user(best.user, confidence: best.likelihood / all)
        }
        // Who can be told apart from the others is no candidate.
        let candidates = fits.filter { fit in
            fit.user == best.user || abs(fit.mean - best.mean) <= distinction.closeness
                || fit.likelihood / all > 1 - Self.confidence
        }
        return .unclear(candidates.map(\.user))
    }

    /// All who use the device, in the order of the configuration.
    package var everybody: [Int] { persons.map(\.user) }

    private struct Fit {
        var user: Int
        var mean: Double
        /// From the usual value, in standard deviations.
        var distance: Double
        var likelihood: Double
    }

    private func usual(
        of person: Person, _ metric: Metric, _ distinction: MetricDescription.Distinction, at moment: Timestamp,
        _ known: [Known]
    ) -> (mean: Double, deviation: Double)? {
        let own = known.filter { $0.user == person.user }
            .map { (age: $0.at > moment ? $0.at - moment : moment - $0.at, at: $0.at, value: $0.value) }
            .filter { $0.age <= Self.reach }
            .sorted { ($0.age, $0.at, $0.value) < ($1.age, $1.at, $1.value) }.prefix(Self.memory)
        let least = distinction.spread * distinction.spread
        guard let nearest = own.first else {
            return person.expected[metric].map { (mean: $0, deviation: 2 * distinction.spread) }
        }
        let weights = own.map { exp2(-Self.days($0.age - nearest.age) / Self.days(Self.halfLife)) }
        let sum = weights.reduce(0, +)
        let mean = zip(weights, own).reduce(0) { $0 + $1.0 * $1.1.value } / sum
        let variance = zip(weights, own).reduce(0) { $0 + $1.0 * ($1.1.value - mean) * ($1.1.value - mean) } / sum
        // The mean has an error of its own, the larger the fewer values there are.
        let ofMean = (least + variance) / sum
        return (mean, (least + variance + ofMean + distinction.drift * Self.days(nearest.age)).squareRoot())
    }

    private static func days(_ duration: Duration) -> Double { duration / .days(1) }
}

extension Sample {
    /// The number by which persons are told apart: the value, or the mean of both pressures.
    var trait: Double? {
        switch reading {
        case .value(let value): value
        case .bloodPressure(let pressure): (pressure.systolic + pressure.diastolic) / 2
        case .count, .sleep, .sport: nil
        }
    }
}

extension Question {
    /// One question for each occasion, such as a weighing with its body fat: by the sample that tells persons apart, the oldest first.
    static func list(of samples: [StoredSample]) -> [Question] {
        var found: [Timestamp: StoredSample] = [:]
        for stored in samples {
            let start = stored.sample.start
            guard let known = found[start] else {
                found[start] = stored
                continue
            }
            if stored.sample.isAsked(before: known.sample) { found[start] = stored }
        }
        return found.sorted { $0.key < $1.key }.compactMap { Question($0.value) }
    }
}
