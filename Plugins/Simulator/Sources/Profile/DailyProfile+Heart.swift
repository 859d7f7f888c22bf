import Foundation
import Vitals

extension DailyProfile {
    /// The heart rate at a moment of this day or of its night, in whole bpm.
    ///
    /// It starts from the person's resting rate, which drifts over days. Asleep, the sleep stage adds to it; awake,
    /// being up, the time of day and stress do. Exercise raises it towards the highest rate.
    func heartRate(at moment: Timestamp) -> Double {
        let noise = person.noise
        let rest = person.restingHeartRate + 2 * noise.wave(.restingDrift, at: moment, period: .days(3))
        let breath = 0.8 * noise.wave(.heartBreath, at: moment, period: .seconds(7))
        let sleepiness = sleepiness(at: moment)
        var asleep = 0.0
        if sleepiness > 0 {
            asleep = rest + depthOffset(at: moment) + 1.2 * noise.wave(.sleepWave, at: moment, period: .minutes(5))
        }
        var rate = asleep
        if sleepiness < 1 {
            let daily = 3 * cosineOfDay(peak: 990, at: moment)
            let slow = 5 * noise.wave(.heartSlow, at: moment, period: .minutes(11))
            let fast = 2.5 * noise.wave(.heartFast, at: moment, period: .seconds(90))
            let awake = rest + 15 + daily + slow + fast
            rate = awake + (asleep - awake) * sleepiness
            let exertion = exertion(at: moment)
            if exertion > 0 {
                let wave = 1 + 0.06 * noise.wave(.effortWave, at: moment, period: .minutes(3))
                rate += exertion * wave * max(0, person.maximumHeartRate - rate)
            }
        }
        return min(max((rate + breath).rounded(), 35), person.maximumHeartRate.rounded())
    }

    /// The depth of sleep: 0 awake, 1 asleep. Falling asleep takes a quarter of an hour, waking up five minutes.
    func sleepiness(at moment: Timestamp) -> Double {
        let sleep = sleep(at: moment)
        guard moment >= sleep.start else { return 0 }
        if moment < sleep.end { return min(1, (moment - sleep.start).inMinutes / 15) }
        return max(0, 1 - (moment - sleep.end).inMinutes / 5)
    }

    /// The share of the heart-rate reserve used by exercise: it rises within two minutes and falls within five.
    func exertion(at moment: Timestamp) -> Double {
        var result = 0.0
        for activity in activities where activity.start <= moment {
            let atEnd = activity.effort * (1 - exp(-(min(moment, activity.end) - activity.start).inMinutes / 1.2))
            if moment < activity.end { return max(result, atEnd) }
            let since = (moment - activity.end).inMinutes
            if since < Self.recovery { result = max(result, atEnd * exp(-since / 2.2)) }
        }
        return result
    }

    /// Minutes after which an activity no longer affects the heart rate.
    private static let recovery = 20.0

    /// What the sleep stage adds to the lowest heart rate; each transition takes two minutes.
    private func depthOffset(at moment: Timestamp) -> Double {
        let night = sleep(at: moment)
        let place = night.stage(at: moment)
        let stage = night.stages[place]
        let before = place > 0 ? night.stages[place - 1].depth.heartOffset : Sleep.Stage.Depth.light.heartOffset
        let part = min(1, (moment - stage.start).inMinutes / 2)
        let progress = (moment - night.start).inMinutes / max(1, (night.end - night.start).inMinutes)
        return before + (stage.depth.heartOffset - before) * part + 4 * (1 - min(1, progress))
    }

    /// A curve over the wall clock's day from -1 to 1, with its highest point at `peak` minutes from midnight.
    func cosineOfDay(peak: Double, at moment: Timestamp) -> Double {
        cos((Double(minuteOfDay(moment)) - peak) / 1440 * 2 * .pi)
    }
}

extension Sleep.Stage.Depth {
    /// Beats per minute above the lowest heart rate.
    fileprivate var heartOffset: Double {
        switch self {
        case .deep: 0
        case .light, .asleep: 3
        case .rem: 6
        case .awake, .inBed: 12
        }
    }
}

extension Duration {
    /// Minutes, with fraction.
    var inMinutes: Double { Double(inMilliseconds) / 60_000 }
}
