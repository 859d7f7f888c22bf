import Vitals

/// Random-looking numbers that are a pure function of seed, channel and index: the same at every call, in any order, on
/// any machine. Nothing is stored, so a sample of a year ago costs as much as a current one.
struct Noise: Sendable, Hashable {
    /// The purpose of a number. Each purpose has its own channel, so that adding one does not change the others.
    enum Channel: UInt64, Sendable {
        case age, restingHeartRate, systolic, diastolic, oxygen, apnoea, temperature, stress, stride, weight
        case wakeTime, sleepLength, workoutDays
        case wakeOfDay, sleepOfDay, cycleLength, deepLength, remLength, awakening
        case commute, lunchWalk, errand, workoutOfDay, workoutKind, workoutTime, workoutLength, effort, cadence
        case restingDrift, heartSlow, heartFast, heartBreath, effortWave, sleepWave
        case oxygenWave, oxygenDip, temperatureWave, stressSlow, stressFast, pressureWave
        case housework
        case person, charging, chargingLength, drain, batteryPhase, streamPhase, spotCheck, spotCheckLength
        case cuffMorning, cuffEvening, cuffTime
        case fault, corruption
        case napDays, nap, napTime, napLength
        case variability, variabilityWave, breaths, breathWave, skinWave, weightDrift, weightOfDay
        case glucose, glucoseWave, mealTime, mealSize, weighing, weighingTime
    }

    let seed: UInt64

    /// 64 bits for an index, from the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    func bits(_ channel: Channel, _ index: Int64) -> UInt64 {
        var bits = Self.mixed(seed &+ (channel.rawValue &+ 1) &* 0x9e37_79b9_7f4a_7c15)
        bits = Self.mixed(bits &+ UInt64(bitPattern: index) &* 0xd1b5_4a32_d192_ed03)
        return bits
    }

    /// A number from 0 up to, but not including, 1.
    func unit(_ channel: Channel, _ index: Int64 = 0) -> Double { Double(bits(channel, index) >> 11) * 0x1p-53 }

    /// A uniformly distributed number within a range.
    func number(_ channel: Channel, _ index: Int64 = 0, in range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit(channel, index) * (range.upperBound - range.lowerBound)
    }

    /// A uniformly distributed whole number within a range.
    func integer(_ channel: Channel, _ index: Int64 = 0, in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(unit(channel, index) * Double(range.count))
    }

    /// Whether an event of this probability happens.
    func happens(_ channel: Channel, _ index: Int64, probability: Double) -> Bool { unit(channel, index) < probability }

    /// A smooth curve over time from -1 to 1, with one random value per `period`: value noise.
    func wave(_ channel: Channel, at moment: Timestamp, period: Duration) -> Double {
        let length = period.inMilliseconds
        let index = moment.milliseconds.floored(by: length)
        let part = Double(moment.milliseconds - index * length) / Double(length)
        let eased = part * part * (3 - 2 * part)
        let from = unit(channel, index)
        let to = unit(channel, index + 1)
        return (from + (to - from) * eased) * 2 - 1
    }

    private static func mixed(_ input: UInt64) -> UInt64 {
        var bits = input
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }
}

extension Noise {
    /// The seed for a text: its 64-bit FNV-1a hash, which unlike `Hasher` is the same in every process.
    static func seed(of text: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}

extension Int64 {
    /// The quotient rounded down, also for negative numbers; `divisor` must be positive.
    func floored(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return quotient * divisor > self ? quotient - 1 : quotient
    }
}
