import Vitals

/// A unit that others write a value in, converted to one of the gateway's.
struct ValueUnit: Sendable, Hashable {
    /// What can be converted into each other.
    private enum Quantity {
        case mass, temperature, share, pressure, glucose, length, energy, time, rate, volume, sound
    }

    /// How a unit becomes that of its quantity: by a factor, and then a summand.
    private struct Scale {
        let name: String
        let quantity: Quantity
        let factor: Double
        let summand: Double

        init(_ name: String, _ quantity: Quantity, _ factor: Double, plus summand: Double = 0) {
            self.name = name
            self.quantity = quantity
            self.factor = factor
            self.summand = summand
        }
    }

    /// Pound, stone, ounce, mile, foot, inch and yard as defined in 1959; a mmHg is 133.322387415 Pa; a kcal is 4.184 kJ (the
    /// thermochemical one, ISO 80000-5); glucose by its molar mass of 180.16 g/mol; a jin is half a kilogram. A dietary calorie has a
    /// capital letter.
    private static let scales: [Scale] = [
        Scale("kg", .mass, 1), Scale("g", .mass, 0.001), Scale("lb", .mass, 0.453_592_37),
        Scale("st", .mass, 6.350_293_18), Scale("oz", .mass, 0.028_349_523_125), Scale("jin", .mass, 0.5),
        Scale("lbs", .mass, 0.453_592_37), Scale("mg", .mass, 0.000_001),
        Scale("°C", .temperature, 1), Scale("C", .temperature, 1), Scale("degC", .temperature, 1),
        Scale("°F", .temperature, 5.0 / 9, plus: -160.0 / 9), Scale("F", .temperature, 5.0 / 9, plus: -160.0 / 9),
        Scale("degF", .temperature, 5.0 / 9, plus: -160.0 / 9),
        Scale("%", .share, 1), Scale("percent", .share, 1), Scale("1", .share, 100), Scale("ratio", .share, 100),
        Scale("mmHg", .pressure, 1), Scale("kPa", .pressure, 7.500_616_827),
        Scale("mg/dL", .glucose, 1), Scale("mmol/L", .glucose, 18.016),
        Scale("m", .length, 1), Scale("km", .length, 1000), Scale("mi", .length, 1609.344),
        Scale("yd", .length, 0.9144), Scale("ft", .length, 0.3048), Scale("in", .length, 0.0254),
        Scale("cm", .length, 0.01), Scale("mm", .length, 0.001),
        Scale("kcal", .energy, 4.184), Scale("kJ", .energy, 1), Scale("cal", .energy, 0.004_184),
        Scale("Cal", .energy, 4.184),
        Scale("ms", .time, 0.001), Scale("s", .time, 1), Scale("min", .time, 60), Scale("h", .time, 3600),
        Scale("bpm", .rate, 1), Scale("breaths/min", .rate, 1), Scale("count/min", .rate, 1),
        Scale("/min", .rate, 1), Scale("1/min", .rate, 1), Scale("Hz", .rate, 60),
        Scale("mL", .volume, 0.001), Scale("ml", .volume, 0.001), Scale("L", .volume, 1), Scale("l", .volume, 1),
        Scale("dBA", .sound, 1), Scale("dB", .sound, 1),
    ]
    private static let exact = Dictionary(uniqueKeysWithValues: scales.map { ($0.name, $0) })
    private static let inSmallLetters = Dictionary(scales.map { ($0.name.lowercased(), $0) }) { first, _ in first }

    /// The unit as others write it.
    let text: String
    /// The gateway's.
    private let own: String?

    /// A unit of values of a metric; `nil` if it is unknown or measures something else.
    init?(_ text: String, of metric: Metric) { self.init(text, in: metric.unit) }

    /// A unit that can be converted to one of the gateway's, in small or capital letters; `nil` if it cannot.
    init?(_ text: String, in own: String?) {
        self.text = text
        self.own = own
        if text == own ?? "" { return }
        guard let unit = Self.unit(text), let wanted = own.flatMap({ Self.unit($0) }), unit.quantity == wanted.quantity
        else { return nil }
    }

    /// A value in the gateway's unit, rounded to thousandths, so that it is the same each time that it comes.
    func convert(_ value: Double) -> Double {
        guard let own, text != own, let from = Self.unit(text), let to = Self.unit(own) else { return value }
        return ((value * from.factor + from.summand - to.summand) / to.factor).rounded(to: 3)
    }

    /// The names of the units that a value may have, with the gateway's first; none for a metric without a unit.
    static func names(in own: String?) -> [String] {
        guard let own else { return [] }
        let quantity = unit(own)?.quantity
        return [own] + scales.filter { $0.quantity == quantity && $0.name != own }.map(\.name)
    }

    private static func unit(_ text: String) -> Scale? { exact[text] ?? inSmallLetters[text.lowercased()] }
}
