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

    /// Numbers that stand for "not measured" in any column.
    package static let notMeasured: Set<Double> = [0, -1, 255]
}
