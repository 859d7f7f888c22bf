import Vitals

/// Values that a device measures at night above all. Each is a function of the moment, in the metric's unit and resolution.
extension DailyProfile {
    /// Heart-rate variability as RMSSD in whole ms: highest in sleep, low in exercise and under stress.
    func variability(at moment: Timestamp) -> Double {
        let asleep = sleepiness(at: moment)
        let wave = person.noise.wave(.variabilityWave, at: moment, period: .minutes(25))
        let strain = max(0, stress(at: moment) - person.stress) / 100
        let value =
            person.variability * (0.85 + 0.35 * asleep + 0.18 * wave) * (1 - 0.75 * exertion(at: moment))
            * (1 - 0.4 * strain)
        return min(max(value.rounded(), 6), 160)
    }

    /// Breaths per minute to a tenth: slow and even in sleep, up to three times as many in exercise.
    func breaths(at moment: Timestamp) -> Double {
        let asleep = sleepiness(at: moment)
        let wave = person.noise.wave(.breathWave, at: moment, period: .minutes(6))
        let value = person.breaths + (1 - asleep) * (2 + 26 * exertion(at: moment)) + (1.6 - asleep) * wave
        return (min(max(value, 8), 50) * 10).rounded() / 10
    }

    /// Temperature of the wrist's skin in °C to a tenth: warm under the blanket, cooler by day, coolest while sweating.
    func skinTemperature(at moment: Timestamp) -> Double {
        let noise = person.noise
        let wave = noise.wave(.skinWave, at: moment, period: .minutes(40))
        let value = 31.6 + 2.9 * sleepiness(at: moment) + 0.7 * wave - 1.6 * exertion(at: moment)
        return (min(max(value, 26), 36.5) * 10).rounded() / 10
    }
}
