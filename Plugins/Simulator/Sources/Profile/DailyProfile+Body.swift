import Foundation
import Vitals

/// The other body values that a device measures. Each is a function of the moment, in the metric's unit and resolution.
extension DailyProfile {
    /// Oxygen saturation in whole per cent. It is a little lower in sleep, where it dips for a minute or two in some
    /// people.
    func oxygen(at moment: Timestamp) -> Double {
        let noise = person.noise
        let asleep = sleepiness(at: moment)
        var value = person.oxygen - 1.1 * asleep - 0.9 * exertion(at: moment)
        value += 0.9 * noise.wave(.oxygenWave, at: moment, period: .minutes(4))
        if asleep == 1 {
            let length = Duration.minutes(10).inMilliseconds
            let index = moment.milliseconds.floored(by: length)
            if noise.happens(.oxygenDip, index, probability: person.apnoea) {
                let part = Double(moment.milliseconds - index * length) / Double(length)
                value -= noise.number(.oxygenDip, ~index, in: 2...6) * max(0, 1 - abs(part - 0.5) * 8)
            }
        }
        return min(max(value.rounded(), 82), 100)
    }

    /// Stress from 0 to 100: low in sleep, higher in working hours and in exercise.
    func stress(at moment: Timestamp) -> Double {
        let noise = person.noise
        let sleepiness = sleepiness(at: moment)
        let minute = Double(minuteOfDay(moment))
        let work = day.isWeekend ? 0 : max(0, sin((minute - 480) / 600 * .pi)) * 14
        let slow = noise.wave(.stressSlow, at: moment, period: .minutes(50))
        let fast = noise.wave(.stressFast, at: moment, period: .minutes(8))
        let awake = person.stress + work + 16 * slow + 7 * fast + 30 * exertion(at: moment)
        let asleep = 12 + 5 * slow + 2 * fast
        return min(max((awake + (asleep - awake) * sleepiness).rounded(), 1), 99)
    }

    /// Body temperature in °C to a tenth: highest in the late afternoon, lowest before morning, raised by exercise.
    func temperature(at moment: Timestamp) -> Double {
        var value = person.temperature + 0.3 * cosineOfDay(peak: 1020, at: moment)
        value -= 0.12 * sleepiness(at: moment)
        value += 0.07 * person.noise.wave(.temperatureWave, at: moment, period: .minutes(35))
        for activity in activities where activity.start <= moment {
            let heat = activity.effort * (1 - exp(-(min(moment, activity.end) - activity.start).inMinutes / 20))
            let since = max(0, (moment - activity.end).inMinutes)
            if since < 240 { value += 0.9 * heat * exp(-since / 40) }
        }
        return (min(max(value, 35), 39.5) * 10).rounded() / 10
    }

    /// Blood pressure in whole mmHg: a tenth or more lower in sleep, higher with exercise and stress.
    func pressure(at moment: Timestamp, withPulse: Bool) -> BloodPressure {
        let asleep = sleepiness(at: moment)
        let exertion = exertion(at: moment)
        let daily = cosineOfDay(peak: 1050, at: moment)
        let wave = person.noise.wave(.pressureWave, at: moment, period: .minutes(20))
        let strain = stress(at: moment) - person.stress
        var systolic = person.systolic + 4 * daily + 5 * wave + 0.12 * strain + 38 * exertion
        var diastolic = person.diastolic + 2.5 * daily + 3 * wave + 0.06 * strain + 8 * exertion
        systolic *= 1 - 0.11 * asleep
        diastolic *= 1 - 0.13 * asleep
        return BloodPressure(
            systolic: min(max(systolic.rounded(), 80), 210), diastolic: min(max(diastolic.rounded(), 45), 120),
            pulse: withPulse ? heartRate(at: moment) : nil)
    }
}

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
