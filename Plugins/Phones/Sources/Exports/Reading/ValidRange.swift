import Vitals

/// The values of each kind of column that are measurements. Everything else is the app's or the wearable's mark for "none".
package enum ValidRange {
    /// Heart rates, bpm. 255 is "illegal", 0 and -1 are "not measured".
    package static let heartRate: ClosedRange<Double> = 20...254
    /// Oxygen saturation, %.
    package static let bloodOxygen: ClosedRange<Double> = 1...100
    /// Stress, 1 to 100. Some wearables write 0 for none, and Garmin negative codes.
    package static let stress: ClosedRange<Double> = 1...100
    /// Heart-rate variability, ms.
    package static let variability: ClosedRange<Double> = 1...200
    /// Breaths per minute.
    package static let respiratoryRate: ClosedRange<Double> = 3...100
    /// Temperature of the body, °C.
    package static let temperature: ClosedRange<Double> = 25...45
    /// Temperature of the skin, °C.
    package static let skinTemperature: ClosedRange<Double> = 15...45
    /// Both blood pressures, mmHg.
    package static let bloodPressure: ClosedRange<Double> = 20...300
    /// Weight, kg.
    package static let weight: ClosedRange<Double> = 0.4...650
    /// Blood glucose, mg/dL.
    package static let glucose: ClosedRange<Double> = 10...1000

    /// Whether a person can make so many steps, and more than none, in a time.
    package static func isPossible(steps: Int, in length: Duration) -> Bool {
        steps > 0 && SampleLimits.steps.contains(steps)
            && Double(steps) <= SampleLimits.most(at: SampleLimits.stepRate, in: length)
    }

    /// An amount within a range that a person can do in a time, at a highest rate per second; `nil` for any other, and for 0 and -1,
    /// which are not measured. Without it the rest of its record still counts.
    package static func possible(
        _ amount: Double?, _ range: ClosedRange<Double>, at rate: Double, in length: Duration
    ) -> Double? {
        guard let amount, amount > 0, range.contains(amount), amount <= SampleLimits.most(at: rate, in: length) else {
            return nil
        }
        return amount
    }

    /// The same of metres on foot.
    package static func possible(metres: Double?, in length: Duration) -> Double? {
        possible(metres, SampleLimits.distance, at: SampleLimits.footSpeed, in: length)
    }

    /// The same of kilocalories.
    package static func possible(energy: Double?, in length: Duration) -> Double? {
        possible(energy, SampleLimits.energy, at: SampleLimits.energyRate, in: length)
    }

    /// Numbers that stand for "not measured" in any column.
    package static let notMeasured: Set<Double> = [0, -1, 255]
}
