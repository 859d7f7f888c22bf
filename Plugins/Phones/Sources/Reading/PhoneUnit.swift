import Vitals

/// Converts what apps write to the units of the gateway.
enum PhoneUnit {
    /// Milligrams per decilitre of glucose per millimole per litre (molar mass 180.16 g/mol).
    private static let milligrams = 18.016
    /// Kilojoules of a kilocalorie (the thermochemical one, ISO 80000-5).
    private static let kilojoules = 4.184
    /// Kilograms of a pound, and metres of a mile, as defined in 1959.
    private static let pound = 0.453_592_37
    private static let mile = 1609.344

    private enum Kind { case perMinute, milliseconds, share, degrees, mass, glucose }
    private static let kinds: [Metric: Kind] = [
        .heartRate: .perMinute, .restingHeartRate: .perMinute, .respiratoryRate: .perMinute,
        .heartRateVariability: .milliseconds, .bloodOxygen: .share, .temperature: .degrees,
        .skinTemperature: .degrees, .weight: .mass, .bloodGlucose: .glucose,
    ]

    /// A value of a metric with one number, in its unit; `nil` if the unit is unknown. A missing unit is the usual one.
    static func value(_ value: Double, _ unit: String?, of metric: Metric) -> Double? {
        let unit = unit?.lowercased() ?? ""
        switch kinds[metric] {
        case .perMinute:
            return ["", "bpm", "count/min", "beats/min", "breaths/min", "br/min"].contains(unit) ? value : nil
        case .milliseconds: return time(value, unit)
        case .share:
            guard ["", "%", "percent"].contains(unit) else { return nil }
            // A share of 1 instead of 100: a saturation of 1 % is impossible.
            return value <= 1 ? (value * 100).rounded(to: 1) : value
        case .degrees: return temperature(value, unit)
        case .mass: return weight(value, unit)
        case .glucose: return glucose(value, unit)
        case nil: return nil
        }
    }

    /// A distance in metres; `nil` if the unit is unknown.
    static func distance(_ value: Double, _ unit: String?) -> Double? {
        switch unit?.lowercased() {
        case "m": value
        case "km": (value * 1000).rounded(to: 1)
        case "mi": (value * mile).rounded(to: 1)
        case "yd": (value * 0.9144).rounded(to: 1)
        case "ft": (value * 0.3048).rounded(to: 1)
        default: nil
        }
    }

    /// An energy in kilocalories; `nil` if the unit is unknown.
    static func energy(_ value: Double, _ unit: String?) -> Double? {
        // A dietary calorie has a capital letter.
        switch unit {
        case "kcal", "Cal": value
        case "cal": (value / 1000).rounded(to: 3)
        case "kJ", "kj": (value / kilojoules).rounded(to: 3)
        default: nil
        }
    }

    /// A pressure in mmHg; `nil` if the unit is unknown.
    static func pressure(_ value: Double, _ unit: String?) -> Double? {
        switch unit?.lowercased() ?? "" {
        case "", "mmhg": value
        case "kpa": (value * 7.500_617).rounded(to: 1)
        default: nil
        }
    }

    private static func time(_ value: Double, _ unit: String) -> Double? {
        switch unit {
        case "", "ms": value
        case "s", "sec": (value * 1000).rounded(to: 3)
        default: nil
        }
    }

    private static func temperature(_ value: Double, _ unit: String) -> Double? {
        switch unit {
        case "", "degc", "°c", "c": value
        case "degf", "°f", "f": ((value - 32) / 1.8).rounded(to: 2)
        default: nil
        }
    }

    private static func weight(_ value: Double, _ unit: String) -> Double? {
        switch unit {
        case "", "kg": value
        case "g": (value / 1000).rounded(to: 3)
        case "lb", "lbs": (value * pound).rounded(to: 3)
        case "st": (value * 14 * pound).rounded(to: 3)
        default: nil
        }
    }

    /// HealthKit writes the molar mass into the unit: `mmol<180.1558800000541>/L`.
    private static func glucose(_ value: Double, _ unit: String) -> Double? {
        if ["", "mg/dl"].contains(unit) { return value }
        return unit.hasPrefix("mmol") && unit.hasSuffix("/l") ? (value * milligrams).rounded(to: 1) : nil
    }
}

extension Double {
    /// The number rounded to so many decimals, so that a converted value is the same each time that it comes.
    func rounded(to decimals: Int) -> Double {
        var power = 1.0
        for _ in 0..<decimals { power *= 10 }
        return (self * power).rounded() / power
    }
}
