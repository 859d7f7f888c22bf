extension Metric {
    /// What a value of this metric can be on a living person, in its unit, both ends included: readings outside are
    /// refused and limits must lie within. For blood pressure it holds for both pressures. `nil` for steps, sleep and
    /// sport, which are no single measured value.
    ///
    /// The ranges are wide on purpose: they keep out what a sensor gives without contact (0 or 255 bpm, 20 °C), not
    /// what is unusual.
    public var range: ClosedRange<Double>? {
        switch self {
        case .heartRate, .restingHeartRate, .bloodPressure: 20...300
        case .bloodOxygen, .stress, .battery: 0...100
        case .temperature: 25...45
        case .steps, .sleep, .sport: nil
        }
    }

    /// For how long after it was measured a value stands for the present, where the configuration does not say;
    /// `nil`: without end.
    public var defaultFreshness: Duration? {
        switch self {
        case .heartRate: .minutes(30)
        case .stress: .hours(2)
        case .bloodOxygen, .temperature: .hours(24)
        case .restingHeartRate, .bloodPressure, .steps, .sleep, .sport, .battery: nil
        }
    }
}
