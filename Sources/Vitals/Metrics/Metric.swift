/// A metric that wearables measure: a row of `MetricTable`. The raw value is its name on all wires: MQTT topics and
/// payloads, Vitals Link, the configuration file and the store.
///
/// Not an enumeration, so that a new metric is a new row and adds no case to switches, including those in external
/// drivers.
public struct Metric: RawRepresentable, CaseIterable, Sendable, Hashable {
    private let row: UInt8

    /// The index of its row in the table, from 0 without holes, for tables in memory. It is never stored.
    package var index: Int { Int(row) }

    init(index: Int) { row = UInt8(index) }

    /// The metric with this name; `nil` if there is none.
    public init?(rawValue: String) {
        guard let metric = MetricTable.current.byName[rawValue] else { return nil }
        self = metric
    }

    /// All metrics, in the order of the table.
    public static var allCases: [Metric] { MetricTable.current.metrics }

    /// Heart rate in beats per minute.
    public static let heartRate = Metric(index: 0)
    /// Heart rate at complete rest, as determined by the device, in beats per minute.
    public static let restingHeartRate = Metric(index: 1)
    /// Arterial pressure: systolic and diastolic in mmHg, optionally with the pulse.
    public static let bloodPressure = Metric(index: 2)
    /// Peripheral oxygen saturation (SpO2) in per cent.
    public static let bloodOxygen = Metric(index: 3)
    /// Stress on the device's own scale from 0 to 100.
    public static let stress = Metric(index: 4)
    /// Body temperature in degrees Celsius.
    public static let temperature = Metric(index: 5)
    /// Steps within an interval: an increment, not a running total.
    public static let steps = Metric(index: 6)
    /// One sleep, with its stages as far as they are known, or a time in bed.
    public static let sleep = Metric(index: 7)
    /// One workout.
    public static let sport = Metric(index: 8)
    /// The wearable's own battery in per cent. Not a health metric: it has no history on the device.
    public static let battery = Metric(index: 9)
    /// Variation of the time between heartbeats in milliseconds, by the statistic of `Qualifier.statistic`.
    public static let heartRateVariability = Metric(index: 10)
    /// Breaths per minute.
    public static let respiratoryRate = Metric(index: 11)
    /// Temperature of the skin in degrees Celsius, never a difference from a baseline. It says nothing about fever.
    public static let skinTemperature = Metric(index: 12)
    /// Body weight in kilograms.
    public static let weight = Metric(index: 13)
    /// Glucose in milligrams per decilitre. 1 mmol/L is 18.016 mg/dL (molar mass 180.16 g/mol).
    public static let bloodGlucose = Metric(index: 14)
    /// Metres covered within an interval; `Qualifier.activity` says how.
    public static let distance = Metric(index: 15)
    /// Kilocalories spent within an interval beyond those of rest.
    public static let activeEnergy = Metric(index: 16)
    /// All kilocalories spent within an interval.
    public static let totalEnergy = Metric(index: 17)
    /// Kilocalories that rest takes within an interval.
    public static let basalEnergy = Metric(index: 18)
    /// Floors climbed within an interval.
    public static let floors = Metric(index: 19)
    /// Minutes of exercise within an interval, as the device counts them.
    public static let exerciseMinutes = Metric(index: 20)
    /// Hours in which the person stood up for a minute, as the device counts them.
    public static let standHours = Metric(index: 21)
    /// Millilitres drunk within an interval.
    public static let hydration = Metric(index: 22)
    /// Maximal oxygen uptake, in millilitres per kilogram and minute.
    public static let vo2Max = Metric(index: 23)
    /// Fat in per cent of the body weight.
    public static let bodyFat = Metric(index: 24)
    /// Body weight without fat, in kilograms.
    public static let leanMass = Metric(index: 25)
    /// Body height in centimetres.
    public static let height = Metric(index: 26)
    /// Weight by the square of height, in kilograms per square metre.
    public static let bodyMassIndex = Metric(index: 27)
    /// By how many beats per minute the heart rate falls in the minute after exercise.
    public static let heartRateRecovery = Metric(index: 28)
    /// Mean heart rate while walking, as determined by the device, in beats per minute.
    public static let walkingHeartRate = Metric(index: 29)
    /// Sound level around the person, A-weighted, in decibels.
    public static let noiseExposure = Metric(index: 30)
    /// Kilocalories eaten and drunk.
    public static let dietaryEnergy = Metric(index: 31)
    /// Grams of protein eaten.
    public static let protein = Metric(index: 32)
    /// Grams of carbohydrates eaten.
    public static let carbohydrates = Metric(index: 33)
    /// Grams of fat eaten.
    public static let fat = Metric(index: 34)
}

extension Metric: CustomStringConvertible {
    /// The metric's name.
    public var description: String { rawValue }
}
