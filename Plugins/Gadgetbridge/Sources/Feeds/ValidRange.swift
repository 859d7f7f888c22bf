import Vitals

/// The values of each kind of column that are measurements. Everything else is the app's or the wearable's mark for "none".
enum ValidRange {
    /// Heart rates, bpm. 255 is "illegal", 0 and -1 are "not measured".
    static let heartRate: ClosedRange<Double> = 20...254
    /// Oxygen saturation, %.
    static let bloodOxygen: ClosedRange<Double> = 1...100
    /// Stress, 1 to 100. Some wearables write 0 for none, and Garmin negative codes.
    static let stress: ClosedRange<Double> = 1...100
    /// Heart-rate variability, ms.
    static let variability: ClosedRange<Double> = 1...200
    /// Breaths per minute.
    static let respiratoryRate: ClosedRange<Double> = 3...100
    /// Temperature of the body, °C.
    static let temperature: ClosedRange<Double> = 25...45
    /// Temperature of the skin, °C.
    static let skinTemperature: ClosedRange<Double> = 15...45
    /// Both blood pressures, mmHg.
    static let bloodPressure: ClosedRange<Double> = 20...300
    /// Weight, kg.
    static let weight: ClosedRange<Double> = 0.4...650
    /// Blood glucose, mg/dL.
    static let glucose: ClosedRange<Double> = 10...1000

    /// Numbers that stand for "not measured" in whatever column.
    static let notMeasured: Set<Double> = [0, -1, 255]
}

/// Metrics that not every version of the gateway has. Without one, its columns are left out.
enum LaterMetric {
    static let variability = Metric(rawValue: "heart_rate_variability")
    static let respiratoryRate = Metric(rawValue: "respiratory_rate")
    static let skinTemperature = Metric(rawValue: "skin_temperature")
    static let weight = Metric(rawValue: "weight")
    static let glucose = Metric(rawValue: "blood_glucose")
}
