/// Converts numbers to the unit in which Home Assistant keeps a sensor's statistics. With another system
/// of units, or another unit chosen for the entity, the statistics are in that unit: ours alone would mix both.
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
    /// definitions of the units (NIST SP 811), but for glucose: its molar mass is 180.16 g/mol in 2026.11, and older releases
    /// take 180. The statistics of those, in mmol/L, differ by a thousandth from ours.
    private static let table: [String: [String: (factor: Double, offset: Double)]] = [
        "°C": ["°F": (1.8, 32), "K": (1, 273.15)],
        "kg": [
            "lb": (1 / 0.45359237, 0), "g": (1000, 0), "st": (1 / (0.45359237 * 14), 0), "oz": (16 / 0.45359237, 0),
            "mg": (1e6, 0), "µg": (1e9, 0), "μg": (1e9, 0),
        ],
        "m": [
            "km": (0.001, 0), "ft": (1 / 0.3048, 0), "mi": (1 / 1609.344, 0), "yd": (1 / 0.9144, 0), "cm": (100, 0),
            "in": (1 / 0.0254, 0), "mm": (1000, 0), "nmi": (1 / 1852.0, 0),
        ],
        "kcal": [
            "J": (4184, 0), "kJ": (4.184, 0), "MJ": (4.184e-3, 0), "GJ": (4.184e-6, 0), "mWh": (4184 / 3.6, 0),
            "Wh": (4.184 / 3.6, 0), "kWh": (4.184 / 3600, 0), "MWh": (4.184e-3 / 3600, 0),
            "GWh": (4.184e-6 / 3600, 0), "TWh": (4.184e-9 / 3600, 0), "cal": (1000, 0), "Mcal": (1e-3, 0),
            "Gcal": (1e-6, 0),
        ],
        // Fluid ounce, gallon and cubic foot are those of the United States.
        "mL": [
            "L": (0.001, 0), "m³": (1e-6, 0), "fl. oz.": (1 / 29.5735295625, 0), "gal": (1 / 3785.411784, 0),
            "ft³": (1 / 28316.846592, 0), "CCF": (1 / 2831684.6592, 0), "MCF": (1 / 28316846.592, 0),
        ],
        "cm": [
            "m": (0.01, 0), "mm": (10, 0), "in": (1 / 2.54, 0), "ft": (1 / 30.48, 0), "yd": (1 / 91.44, 0),
            "km": (1e-5, 0), "mi": (1 / 160934.4, 0), "nmi": (1 / 185_200.0, 0),
        ],
        "h": ["min": (60, 0), "s": (3600, 0), "d": (1 / 24.0, 0)],
        "min": ["h": (1 / 60.0, 0), "s": (60, 0), "d": (1 / 1440.0, 0)],
        "mmHg": [
            "mPa": (pascals * 1000, 0), "Pa": (pascals, 0), "hPa": (pascals / 100, 0), "kPa": (pascals / 1000, 0),
            "bar": (pascals / 100_000, 0), "cbar": (pascals / 1000, 0), "mbar": (pascals / 100, 0),
            "inHg": (1 / 25.4, 0), "psi": (pascals / 6894.757, 0),
        ],
        "mg/dL": ["mmol/L": (1 / 18.016, 0)],
    ]

    /// A millimetre of mercury: its density times standard gravity.
    private static let pascals = 13.5951 * 9.80665
}
