import JSON
package import Vitals

/// Samples as a table by RFC 4180: a header, a row for each sample, each line ended by CR LF.
///
/// What a reading has beside its number has columns of its own; of a sleep there are the minutes of each stage.
package struct SampleRows: Sendable {
    private static let columns: [String] = {
        var names = [
            "device", "person", "metric", "unit", "id", "rev", "start", "end", "utc_offset_min", "value", "kind",
            "user_initiated", "exercise", "withdrawn", "received_at", "source", "systolic", "diastolic", "pulse",
        ]
        names += Sleep.Stage.Depth.allCases.map { "\($0.rawValue)_min" }
        names += ["activity", "distance_m", "energy_kcal", "steps"]
        names += ["heart_rate_min", "heart_rate_avg", "heart_rate_max"]
        // A qualifier may have the name of a column.
        names += Qualifier.allCases.map(\.rawValue).filter { !names.contains($0) }
        return names
    }()

    private static let places = Dictionary(uniqueKeysWithValues: zip(columns, columns.indices))

    private var offsets: OffsetCache
    private var number = JSONWriter()
    private var cells = [[UInt8]](repeating: [], count: SampleRows.columns.count)

    package init(calendar: LocalCalendar) { offsets = OffsetCache(calendar) }

    /// The names of the columns, as the first line.
    package static let header = "\(columns.joined(separator: ","))\r\n"

    /// Appends the row of a sample.
    package mutating func append(_ stored: StoredSample, device: DeviceID, person: String?, to output: inout [UInt8]) {
        let sample = stored.sample
        for place in cells.indices { cells[place].removeAll(keepingCapacity: true) }
        set("device", device.text)
        set("person", person)
        set("metric", sample.metric.rawValue)
        set("unit", sample.metric.unit)
        set("id", plain: stored.id.description)
        set("rev", plain: String(stored.revision))
        set("start", plain: sample.start.description)
        set("end", plain: sample.end.description)
        set("utc_offset_min", plain: "\(sample.utcOffset.map { Int($0) } ?? offsets.minutes(at: sample.start))")
        set("value", sample.value)
        set("kind", plain: sample.kind.rawValue)
        set("user_initiated", sample.isUserInitiated)
        set("exercise", sample.isExercise)
        set("withdrawn", stored.isWithdrawn)
        set("received_at", plain: stored.receivedAt.description)
        set("source", sample.origin?.name)
        for (qualifier, word) in sample.qualifiers { set(qualifier.rawValue, word) }
        setReading(of: sample)
        for (place, cell) in cells.enumerated() {
            if place > 0 { output.append(UInt8(ascii: ",")) }
            output += cell
        }
        output += "\r\n".utf8
    }

    private mutating func setReading(of sample: Sample) {
        switch sample.reading {
        case .value: break
        case .bloodPressure(let pressure):
            set("systolic", pressure.systolic)
            set("diastolic", pressure.diastolic)
            set("pulse", pressure.pulse)
        case .count(let increment):
            set("distance_m", increment.distance)
            set("energy_kcal", increment.energy)
        case .sleep(let sleep):
            for depth in Sleep.Stage.Depth.allCases {
                set("\(depth.rawValue)_min", plain: String(sleep.minutes(depth)))
            }
        case .sport(let sport):
            set("activity", sport.activity)
            set("distance_m", sport.distance)
            set("energy_kcal", sport.energy)
            set("steps", sport.steps.map { Double($0) })
            set("heart_rate_min", sport.minimumHeartRate)
            set("heart_rate_avg", sport.averageHeartRate)
            set("heart_rate_max", sport.maximumHeartRate)
        }
    }

    private mutating func set(_ column: String, _ text: String?) {
        guard let text, let place = Self.places[column] else { return }
        cells[place] += Self.cell(text).utf8
    }

    private mutating func set(_ column: String, plain text: String) {
        guard let place = Self.places[column] else { return }
        cells[place] += text.utf8
    }

    private mutating func set(_ column: String, _ value: Bool?) {
        if let value { set(column, plain: value ? "true" : "false") }
    }

    private mutating func set(_ column: String, _ value: Double?) {
        guard let value, let place = Self.places[column] else { return }
        number.removeAll()
        number.double(value)
        cells[place] += number.bytes
    }

    /// With what a text begins that spreadsheets take for a formula (OWASP, CSV Injection).
    private static let formulas: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]
    /// What a text in quotes may have.
    private static let quoted: Set<Unicode.Scalar> = [",", "\"", "\r", "\n"]

    /// A text as a cell. An apostrophe before it keeps a spreadsheet from taking it for a formula.
    package static func cell(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map(formulas.contains) ?? false
        let harmless = isFormula ? "'\(text)" : text
        guard harmless.unicodeScalars.contains(where: quoted.contains) else { return harmless }
        // By scalars: a quote may be one character with an accent behind it.
        var cell = "\"".unicodeScalars
        for scalar in harmless.unicodeScalars {
            if scalar == "\"" { cell.append(scalar) }
            cell.append(scalar)
        }
        cell.append("\"")
        return String(cell)
    }
}
