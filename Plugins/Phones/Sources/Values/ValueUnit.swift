import Vitals

/// A unit that others publish a value in, converted to that of the metric.
struct ValueUnit: Sendable, Hashable {
    /// What can be converted into each other.
    private enum Quantity {
        case mass, temperature, share, pressure, glucose, length, energy, time, rate, volume, sound
    }

    /// How a unit becomes the first one of its quantity: by a factor, and then a summand.
    private struct Scale {
        let quantity: Quantity
        let factor: Double
        let summand: Double

        init(_ quantity: Quantity, _ factor: Double, plus summand: Double = 0) {
            self.quantity = quantity
            self.factor = factor
            self.summand = summand
        }
    }
    private static let fahrenheit = Scale(.temperature, 5.0 / 9, plus: -160.0 / 9)

    /// Units in lower case. Pound, stone, ounce, mile, foot, inch and yard as defined in 1959; a mmHg is 133.322387415 Pa; a kcal is
    /// 4.184 kJ (the thermochemical one, ISO 80000-5); glucose by its molar mass of 180.16 g/mol; a jin is half a kilogram.
    private static let units: [String: Scale] = [
        "kg": Scale(.mass, 1), "g": Scale(.mass, 0.001), "mg": Scale(.mass, 0.000_001),
        "lb": Scale(.mass, 0.453_592_37), "lbs": Scale(.mass, 0.453_592_37), "st": Scale(.mass, 6.350_293_18),
        "oz": Scale(.mass, 0.028_349_523_125), "jin": Scale(.mass, 0.5),
        "°c": Scale(.temperature, 1), "c": Scale(.temperature, 1), "degc": Scale(.temperature, 1),
        "°f": fahrenheit, "f": fahrenheit, "degf": fahrenheit,
        "%": Scale(.share, 1), "percent": Scale(.share, 1), "ratio": Scale(.share, 100),
        "mmhg": Scale(.pressure, 1), "kpa": Scale(.pressure, 7.500_616_827),
        "mg/dl": Scale(.glucose, 1), "mmol/l": Scale(.glucose, 18.016),
        "m": Scale(.length, 1), "cm": Scale(.length, 0.01), "mm": Scale(.length, 0.001),
        "km": Scale(.length, 1000), "mi": Scale(.length, 1609.344), "ft": Scale(.length, 0.3048),
        "in": Scale(.length, 0.0254), "yd": Scale(.length, 0.9144),
        "kcal": Scale(.energy, 4.184), "cal": Scale(.energy, 0.004_184), "kj": Scale(.energy, 1),
        "ms": Scale(.time, 0.001), "s": Scale(.time, 1), "min": Scale(.time, 60), "h": Scale(.time, 3600),
        "bpm": Scale(.rate, 1), "breaths/min": Scale(.rate, 1), "count/min": Scale(.rate, 1),
        "/min": Scale(.rate, 1), "1/min": Scale(.rate, 1), "hz": Scale(.rate, 60),
        "ml": Scale(.volume, 0.001), "l": Scale(.volume, 1),
        "db": Scale(.sound, 1), "dba": Scale(.sound, 1),
    ]

    /// The unit as others write it.
    let text: String
    /// The metric whose values have it.
    private let metric: Metric

    /// A unit of values of a metric; `nil` if it is unknown or measures something else.
    init?(_ text: String, of metric: Metric) {
        self.text = text
        self.metric = metric
        let own = metric.unit ?? ""
        if text == own { return }
        guard let unit = Self.unit(text), let wanted = Self.unit(own), unit.quantity == wanted.quantity else {
            return nil
        }
    }

    /// A value in the metric's unit, rounded to thousandths, so that it is the same each time that it comes.
    func convert(_ value: Double) -> Double {
        guard let own = metric.unit, text != own, let from = Self.unit(text), let to = Self.unit(own) else {
            return value
        }
        return ((value * from.factor + from.summand - to.summand) / to.factor).rounded(to: 3)
    }

    /// The units of a metric, for a message.
    static func names(of metric: Metric) -> String {
        let own = metric.unit ?? ""
        guard let wanted = unit(own) else { return own.isEmpty ? "none" : own }
        return units.filter { $0.value.quantity == wanted.quantity }.keys.sorted().joined(separator: ", ")
    }

    private static func unit(_ text: String) -> Scale? {
        // A dietary calorie has a capital letter.
        text == "Cal" ? units["kcal"] : units[text.lowercased()]
    }
}
