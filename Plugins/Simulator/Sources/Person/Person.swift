/// The wearer of a simulated device: the constants of a body and its habits, derived from a seed.
///
/// Two devices with the same seed have the same wearer, and measure the same heart.
struct Person: Sendable, Hashable {
    /// The random source of this person's days.
    let noise: Noise
    /// Age in years, 24–64.
    let age: Int
    /// Heart rate in complete rest, bpm: 48–66, as in healthy adults of mixed fitness.
    let restingHeartRate: Double
    /// Systolic pressure of a calm day, mmHg: 108–130.
    let systolic: Double
    /// Diastolic pressure of a calm day, mmHg: 68–82.
    let diastolic: Double
    /// Oxygen saturation in daytime, %.
    let oxygen: Double
    /// The probability of a saturation dip in ten minutes of sleep.
    let apnoea: Double
    /// Mean body temperature of a day, °C.
    let temperature: Double
    /// Stress on an idle day, 0–100.
    let stress: Double
    /// Heart-rate variability of a calm day, as RMSSD in ms: 25–60.
    let variability: Double
    /// Breaths per minute in deep sleep: 12–15.
    let breaths: Double
    /// Blood glucose before breakfast, mg/dL: 80–96.
    let glucose: Double
    /// Length of a walking step, metres.
    let stride: Double
    /// Weight in kilograms.
    let weight: Double
    /// When the person gets up on a working day, minutes from midnight.
    let wakeMinute: Int
    /// How long the person usually sleeps, minutes.
    let sleepMinutes: Int
    /// The probability of a workout on a day: two to five workouts a week.
    let workoutProbability: Double
    /// The probability of a nap on a day off: from never to every other one. On working days it is less than a third of
    /// that.
    let napProbability: Double

    init(seed: UInt64) {
        noise = Noise(seed: seed)
        age = noise.integer(.age, in: 24...64)
        restingHeartRate = noise.number(.restingHeartRate, in: 48...66)
        systolic = noise.number(.systolic, in: 108...130)
        diastolic = noise.number(.diastolic, in: 68...82)
        oxygen = noise.number(.oxygen, in: 97.0...98.4)
        apnoea = noise.number(.apnoea, in: 0...0.06)
        temperature = noise.number(.temperature, in: 36.4...36.7)
        stress = noise.number(.stress, in: 22...38)
        variability = noise.number(.variability, in: 25...60)
        breaths = noise.number(.breaths, in: 12...15)
        glucose = noise.number(.glucose, in: 80...96)
        stride = noise.number(.stride, in: 0.64...0.80)
        weight = noise.number(.weight, in: 52...96)
        wakeMinute = noise.integer(.wakeTime, in: 375...435)
        sleepMinutes = noise.integer(.sleepLength, in: 405...475)
        workoutProbability = noise.number(.workoutDays, in: 2...5) / 7
        napProbability = noise.number(.napDays, in: 0...0.5)
    }

    /// The person in a user slot of a shared device: slot 1 is the seed's own person.
    init(seed: UInt64, slot: Int) {
        self.init(seed: slot == 1 ? seed : Noise(seed: seed).bits(.person, Int64(slot)))
    }

    /// The highest possible heart rate, bpm: 208 less 0.7 per year of age (Tanaka, Monahan and Seals, J Am Coll Cardiol
    /// 2001).
    var maximumHeartRate: Double { 208 - 0.7 * Double(age) }
}
