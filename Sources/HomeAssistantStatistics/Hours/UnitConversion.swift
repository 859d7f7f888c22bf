/// Converts numbers to the unit in which Home Assistant keeps a sensor's statistics. Somebody with another system of units,
/// or who chose another unit for the entity, has statistics in that unit: ours alone would mix both.
package struct UnitConversion: Sendable, Hashable {
    private let factor: Double
    private let offset: Double

    /// The conversion between two units; `nil` if there is none.
    package init?(from unit: String?, to other: String?) {
        guard unit != other else {
            (factor, offset) = (1, 0)
            return
        }
        guard let unit, let other, let row = Self.table[unit]?[other] else { return nil }
        (factor, offset) = row
    }

    /// The number in the other unit.
    package func callAsFunction(_ number: Double) -> Double { number * factor + offset }

    /// A difference of two numbers in the other unit.
    package func difference(_ number: Double) -> Double { number * factor }

    /// By our unit and the other one. The factors are those of Home Assistant's `util/unit_conversion.py`, which are the
    /// definitions of the units (NIST SP 811).
    private static let table: [String: [String: (factor: Double, offset: Double)]] = [
        "°C": ["°F": (1.8, 32), "K": (1, 273.15)],
        "kg": ["lb": (1 / 0.45359237, 0), "g": (1000, 0), "st": (1 / (0.45359237 * 14), 0)],
        "m": [
            "km": (0.001, 0), "ft": (1 / 0.3048, 0), "mi": (1 / 1609.344, 0), "yd": (1 / 0.9144, 0), "cm": (100, 0),
        ],
        "kcal": [
            "kWh": (4.184 / 3600, 0), "Wh": (4.184 / 3.6, 0), "kJ": (4.184, 0), "MJ": (0.004184, 0), "cal": (1000, 0),
        ],
        "min": ["h": (1 / 60.0, 0), "s": (60, 0), "d": (1 / 1440.0, 0)],
        "mmHg": ["kPa": (0.133322387415, 0), "hPa": (1.33322387415, 0), "psi": (0.0193367747, 0)],
        "mg/dL": ["mmol/L": (1 / 18.016, 0)],
    ]
}
