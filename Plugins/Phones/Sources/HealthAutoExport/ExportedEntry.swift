import JSON
import Vitals

/// An entry of a metric's `data`, as far as it is understood.
struct ExportedEntry {
    var start: Timestamp?
    var end: Timestamp?
    /// The day of a date without a time.
    var day: Range<Timestamp>?
    var quantity: Double?
    var average: Double?
    var systolic: Double?
    var diastolic: Double?
    /// The stage of a sleep.
    var word: String?
    var source: String?
    /// When a glucose was measured: before or after a meal.
    var meal: String?
    /// The totals of a sleep without stages.
    var night = ExportedNight()

    private enum Key {
        case date, start, end, quantity, average, systolic, diastolic, word, source, sleepSource, meal
        case sleepStart, sleepEnd, bedStart, bedEnd
        case total(ExportedNight.Part)
    }
    private static let keys = JSONWords<Key>([
        ("date", .date), ("start", .start), ("startDate", .start), ("end", .end), ("endDate", .end),
        ("qty", .quantity), ("Avg", .average), ("avg", .average), ("systolic", .systolic), ("diastolic", .diastolic),
        ("value", .word), ("source", .source), ("sleepSource", .sleepSource), ("mealTime", .meal),
        ("sleepStart", .sleepStart), ("sleepEnd", .sleepEnd), ("inBedStart", .bedStart), ("inBedEnd", .bedEnd),
        ("totalSleep", .total(.total)), ("asleep", .total(.asleep)), ("core", .total(.core)), ("deep", .total(.deep)),
        ("rem", .total(.rem)), ("awake", .total(.awake)), ("inBed", .total(.inBed)),
    ])

    /// What a record of Apple's own export says.
    init(start: Timestamp, end: Timestamp, quantity: Double?) {
        (self.start, self.end, self.quantity) = (start, end, quantity)
    }

    init(_ reader: inout JSONReader, calendar: LocalCalendar) throws(JSONError) {
        guard try reader.looseObject() else { return }
        var date: Timestamp?
        while let key = try reader.nextKey(in: Self.keys) {
            switch key {
            case .date:
                let text = try reader.looseText()
                date = text.flatMap { PhoneTime.moment($0, calendar: calendar) }
                day = date == nil ? nil : text.flatMap { LocalDay($0) }.map { calendar.bounds(of: $0) }
            case .start: start = try reader.time(calendar)
            case .end: end = try reader.time(calendar)
            case .quantity: quantity = try reader.looseNumber()
            case .average: average = try reader.looseNumber()
            case .systolic: systolic = try reader.looseNumber()
            case .diastolic: diastolic = try reader.looseNumber()
            case .word: word = try reader.looseText()
            case .source: source = try reader.looseText()
            // Where older versions of the app name the source of a sleep.
            case .sleepSource: source = try reader.looseText() ?? source
            case .meal: meal = try reader.looseText()
            case .sleepStart: night.start = try reader.time(calendar)
            case .sleepEnd: night.end = try reader.time(calendar)
            case .bedStart: night.bedStart = try reader.time(calendar)
            case .bedEnd: night.bedEnd = try reader.time(calendar)
            case .total(let part): night.set(part, to: try reader.looseNumber())
            }
        }
        if start != nil { day = nil }
        start = start ?? date
    }
}

extension JSONReader {
    /// Reads a time; `nil` if it is none.
    mutating func time(_ calendar: LocalCalendar) throws(JSONError) -> Timestamp? {
        try looseText().flatMap { PhoneTime.moment($0, calendar: calendar) }
    }
}
