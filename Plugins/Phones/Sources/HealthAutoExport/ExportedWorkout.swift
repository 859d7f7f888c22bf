import JSON
import Vitals

/// An entry of `workouts`. Its heart rates are those of the metric `heart_rate`, too, so they only give the workout its lowest and
/// its highest: those within it, since the app also has the minutes behind its end, in which the heart recovers.
struct ExportedWorkout {
    private var name: String?
    private var start: Timestamp?
    private var end: Timestamp?
    private var energy: Double?
    private var distance: Double?
    private var steps: Double?
    private var lowest: Double?
    private var average: Double?
    private var highest: Double?

    private enum Key: String, CaseIterable {
        case name, start, end, activeEnergyBurned, distance, avgHeartRate, maxHeartRate, heartRateData, stepCount
        case rates = "heartRate"
    }
    private static let keys = JSONWords(of: Key.self)
    private enum Part { case quantity, unit, minimum, average, maximum, date }
    private static let parts = JSONWords<Part>([
        ("qty", .quantity), ("units", .unit), ("min", .minimum), ("Min", .minimum), ("avg", .average),
        ("Avg", .average), ("max", .maximum), ("Max", .maximum), ("date", .date),
    ])

    /// A number with its unit.
    private struct Quantity {
        var number: Double?
        var unit: String?

        /// The number in the gateway's unit; `nil` without a number or with an unknown unit.
        func converted(by convert: (Double, String?) -> Double?) -> Double? { number.flatMap { convert($0, unit) } }
    }

    init(_ reader: inout JSONReader, calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        var rates: JSONReader?
        while let key = try reader.nextKey(in: Self.keys) {
            switch key {
            case .name: name = try reader.looseText()
            case .start: start = try reader.time(calendar)
            case .end: end = try reader.time(calendar)
            case .activeEnergyBurned: energy = try Self.quantity(&reader).converted(by: PhoneUnit.energy)
            case .distance: distance = try Self.quantity(&reader).converted(by: PhoneUnit.distance)
            case .avgHeartRate: average = try Self.quantity(&reader).number
            case .maxHeartRate: highest = try Self.quantity(&reader).number
            case .rates: try readHeartRate(&reader)
            case .heartRateData:
                // They are read when the times of the workout are known.
                rates = reader
                try reader.skip()
            case .stepCount: steps = try Self.total(&reader)
            }
        }
        guard var rates, let start, let end, start <= end else { return }
        let measured = try Self.range(&rates, from: start, to: end, calendar)
        lowest = lowest ?? measured.lowest
        highest = highest ?? measured.highest
    }

    /// The workout, or why it is skipped.
    var record: Record {
        guard let start, let end, start <= end else { return .skipped("a workout without readable times") }
        let sport = Sport(
            activity: name?.activity ?? "unknown", distance: distance, energy: energy,
            steps: steps.flatMap { Int(exactly: $0.rounded()) }, minimumHeartRate: lowest,
            averageHeartRate: average, maximumHeartRate: highest)
        return .sample(Sample(metric: .sport, start: start, end: end, reading: .sport(sport)))
    }

    /// `{"min": {"qty": …}, "avg": …, "max": …}`.
    private mutating func readHeartRate(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.looseObject() else { return }
        while let part = try reader.nextKey(in: Self.parts) {
            let number = try Self.quantity(&reader).number
            switch part {
            case .minimum: lowest = number
            case .average: average = number
            case .maximum: highest = number
            default: break
            }
        }
    }

    /// `{"qty": 300, "units": "kcal"}`, or a plain number.
    private static func quantity(_ reader: inout JSONReader) throws(JSONError) -> Quantity {
        var quantity = Quantity()
        guard try reader.peek() == .object else {
            quantity.number = try reader.looseNumber()
            return quantity
        }
        try reader.beginObject()
        while let part = try reader.nextKey(in: parts) {
            switch part {
            case .quantity: quantity.number = try reader.looseNumber()
            case .unit: quantity.unit = try reader.looseText()
            default: try reader.skip()
            }
        }
        return quantity
    }

    /// The lowest and the highest of entries with `Min` and `Max`. One whose date is not within the workout does not count.
    private static func range(
        _ reader: inout JSONReader, from start: Timestamp, to end: Timestamp, _ calendar: LocalCalendar
    ) throws(JSONError) -> (lowest: Double?, highest: Double?) {
        var (lowest, highest) = (Double?.none, Double?.none)
        guard try reader.looseArray() else { return (nil, nil) }
        while try reader.nextElement() {
            guard try reader.looseObject() else { continue }
            var (minimum, maximum, date) = (Double?.none, Double?.none, Timestamp?.none)
            while let part = try reader.nextKey(in: parts) {
                switch part {
                case .minimum: minimum = try reader.looseNumber()
                case .maximum: maximum = try reader.looseNumber()
                case .date: date = try reader.time(calendar)
                default: try reader.skip()
                }
            }
            if let date, date < start || date >= end { continue }
            if let minimum { lowest = min(lowest ?? minimum, minimum) }
            if let maximum { highest = max(highest ?? maximum, maximum) }
        }
        return (lowest, highest)
    }

    /// The sum of entries with `qty`, or one such quantity.
    private static func total(_ reader: inout JSONReader) throws(JSONError) -> Double? {
        guard try reader.peek() == .array else { return try quantity(&reader).number }
        var total: Double?
        try reader.beginArray()
        while try reader.nextElement() {
            if let number = try quantity(&reader).number { total = (total ?? 0) + number }
        }
        return total
    }
}

extension String {
    /// An activity's name as one of the gateway's: `Outdoor Run` becomes `outdoor_run`.
    var activity: String {
        var name = ""
        for character in lowercased().prefix(SampleLimits.activityLength) {
            let next = character.isLetter || character.isNumber ? String(character) : "_"
            guard name.utf8.count + next.utf8.count <= SampleLimits.activityLength else { break }
            if next != "_" || name.last != "_" { name += next }
        }
        return name.isEmpty || name == "_" ? "unknown" : name
    }
}
