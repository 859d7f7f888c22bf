import Foundation
import Vitals

/// The effects of food. Each is a function of the moment, in the metric's unit and resolution.
extension DailyProfile {
    /// Weight in kg to 50 g, as scales show it: it drifts over weeks, and rises a little from morning to evening.
    func weight(at moment: Timestamp) -> Double {
        let noise = person.noise
        var value = person.weight + 1.2 * noise.wave(.weightDrift, at: moment, period: .days(24))
        value += noise.number(.weightOfDay, Int64(day.number), in: -0.35...0.35)
        value += 0.4 * cosineOfDay(peak: 1200, at: moment)
        return (value * 20).rounded() / 20
    }

    /// Glucose below the skin in whole mg/dL: it rises after each meal and is back within three hours. Exercise lowers it.
    func glucose(at moment: Timestamp) -> Double {
        var value = person.glucose + 5 * person.noise.wave(.glucoseWave, at: moment, period: .minutes(45))
        for meal in meals where meal.start < moment {
            // A gamma curve: 1 at its peak.
            let part = (moment - meal.start).inMinutes / Self.glucosePeak
            value += meal.rise * part * part * exp(2 * (1 - part))
        }
        value -= 14 * exertion(at: moment)
        return min(max(value.rounded(), 58), 220)
    }

    /// Minutes from a meal to the highest glucose.
    private static let glucosePeak = 50.0

    /// Breakfast, lunch and dinner, with the rise of the glucose in mg/dL.
    private var meals: [(start: Timestamp, rise: Double)] {
        let noise = person.noise
        let key = Int64(day.number) * 4
        let starts = [
            night.end + .minutes(noise.integer(.mealTime, key, in: 25...50)),
            evening(noise.integer(.mealTime, key + 1, in: 735...770)),
            evening(noise.integer(.mealTime, key + 2, in: 1110...1150)),
        ]
        return starts.enumerated().map { number, start in
            (start, noise.number(.mealSize, key + Int64(number), in: 22...58))
        }
    }
}
