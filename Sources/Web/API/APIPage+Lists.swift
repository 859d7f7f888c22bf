import Contract
import JSON
import Vitals

/// A list on its way to a client, in one of its forms.
struct APIList {
    /// The members of the object around a list in JSON, before the list.
    private let head: [(key: String, value: String)]
    private let key: String
    private let format: APIFormat
    private var writer = JSONWriter()
    private var table: [UInt8] = []

    /// - Parameter header: the line of names with which a table begins.
    init(_ key: String, _ head: [(key: String, value: String)], as format: APIFormat, header: String) {
        self.key = key
        self.head = head
        self.format = format
        switch format {
        case .json:
            writer.beginObject()
            for (key, value) in head {
                writer.key(escaping: key)
                writer.string(value)
            }
            writer.key(escaping: key)
            writer.beginArray()
        case .ndjson: break
        case .csv: table = Array(header.utf8)
        }
    }

    /// Adds an entry: as an object, or as a row.
    mutating func add(object: (inout JSONWriter) -> Void, row: (inout [UInt8]) -> Void) {
        switch format {
        case .json: object(&writer)
        case .ndjson:
            object(&writer)
            writer.newline()
        case .csv: row(&table)
        }
    }

    /// The answer, with the place of the next page in it, and in the header `Link` (RFC 8288) of every form.
    mutating func answer(to call: APICall, next: APICursor?) -> WebAnswer {
        var body = table
        switch format {
        case .json:
            writer.endArray()
            writer.member("next", next?.description)
            writer.endObject()
            body = writer.bytes + [0x0A]
        case .ndjson: body = writer.bytes
        case .csv: break
        }
        var answer = WebAnswer(200, format.mediaType, body)
        answer.headers = [(name: "Cache-Control", value: "no-store")]
        if let next { answer.headers.append((name: "Link", value: "<?\(call.followingQuery(next))>; rel=\"next\"")) }
        return answer
    }
}

extension APICall {
    /// The query of the next page.
    fileprivate func followingQuery(_ next: APICursor) -> String {
        let kept = endpoint.parameters.filter { ![.cursor, .from, .to, .fromDay, .toDay].contains($0) }
        let pairs = kept.compactMap { name in query[name].map { "\(name.rawValue)=\(APIQuery.encoded($0))" } }
        return (pairs + ["cursor=\(next)"]).joined(separator: "&")
    }
}

extension APIPage {
    // MARK: - Samples and nights

    func samples(of device: ConfiguredDevice, _ metric: Metric, _ call: APICall) async throws(APIError) -> WebAnswer {
        try await samples(of: device, metric, named: "samples", call) { _ in true }
    }

    /// The sleeps that count.
    func nights(of device: ConfiguredDevice, _ call: APICall) async throws(APIError) -> WebAnswer {
        try await samples(of: device, .sleep, named: "nights", call) { !$0.isWithdrawn }
    }

    private func samples(
        of device: ConfiguredDevice, _ metric: Metric, named name: String, _ call: APICall,
        where isWanted: (StoredSample) -> Bool
    ) async throws(APIError) -> WebAnswer {
        let format = try call.format(among: APIFormat.allCases)
        let most = APIEndpoint.nights.page?.range.upperBound ?? 1
        let limit = min(try call.limit(), metric.shape == .sleep ? most : .max)
        var (from, to) = (try call.query.moment(.from) ?? .earliest, try call.query.moment(.to) ?? .latest)
        var after: SampleKey?
        if let cursor = try call.query.cursor(Self.sampleNumbers) {
            (from, to) = (cursor.moment(0), cursor.moment(1))
            after = SampleKey(start: cursor.moment(2), end: cursor.moment(3), code: max(0, cursor.numbers[4]))
        }
        var list = APIList(
            name, [("device", device.id.text), ("metric", metric.rawValue)], as: format, header: SampleRows.header)
        guard from < to else { return list.answer(to: call, next: nil) }
        let found: [StoredSample]
        do throws(StoreError) {
            found = try await sources.reader.samples(
                of: device.id, metric, starting: from..<to, after: after, limit: limit)
        } catch { throw .store(error.message) }
        var (encoder, rows) = (sources.encoder, SampleRows(calendar: sources.calendar))
        for stored in found where isWanted(stored) {
            let person = device.wearers.person(user: stored.sample.user)
            guard call.shows(person: person) else { continue }
            list.add {
                encoder.line(of: stored, device: device.id, person: person, to: &$0)
            } row: {
                rows.append(stored, device: device.id, person: person, to: &$0)
            }
        }
        let next = found.count < limit ? nil : found.last.map { APICursor(SampleKey($0.sample), from..<to) }
        return list.answer(to: call, next: next)
    }

    /// The numbers in the name of a page of samples: the range, and the key of the last one.
    static let sampleNumbers = 5
    /// Those of days (the first one and the last day), and of alerts (the first moment, and the one before which the page begins).
    static let rangeNumbers = 2

    // MARK: - Days

    func days(of device: ConfiguredDevice, _ metric: Metric, _ call: APICall) async throws(APIError) -> WebAnswer {
        guard call.grant.owns(device) else {
            throw .forbidden(
                "A day of this device has the values of several people, and the token is not for all of them.")
        }
        let format = try call.format(among: APIFormat.allCases)
        let limit = try call.limit()
        var (from, to) = (try call.query.day(.fromDay) ?? .earliest, try call.query.day(.toDay) ?? .latest)
        if let cursor = try call.query.cursor(Self.rangeNumbers) {
            (from, to) = (LocalDay(clamping: cursor.numbers[0]), LocalDay(clamping: cursor.numbers[1]))
        }
        var list = APIList(
            "days", [("device", device.id.text), ("metric", metric.rawValue)], as: format,
            header: ValueRow.header(ValueRow.days))
        guard from <= to else { return list.answer(to: call, next: nil) }
        // One more says whether there is another page.
        let found: [DayRecord]
        do throws(StoreError) {
            found = try await sources.reader.dayRecords(of: device.id, metric, from...to, limit: limit + 1)
        } catch { throw .store(error.message) }
        var encoder = sources.encoder
        for record in found.prefix(limit) {
            var object = JSONWriter()
            encoder.line(of: record, device: device.id, to: &object)
            list.add {
                $0.raw(bytes: object.bytes)
            } row: {
                ValueRow.append(object.bytes, ValueRow.days, to: &$0)
            }
        }
        let next = found.dropFirst(limit).first.map {
            APICursor([Int64($0.summary.day.number), Int64(to.number)])
        }
        return list.answer(to: call, next: next)
    }

    // MARK: - Alerts

    func alerts(of device: ConfiguredDevice, _ call: APICall) async throws(APIError) -> WebAnswer {
        let format = try call.format(among: APIFormat.allCases)
        let limit = try call.limit()
        var (from, before) = (try call.query.moment(.from) ?? .earliest, try call.query.moment(.to) ?? .latest)
        if let cursor = try call.query.cursor(Self.rangeNumbers) {
            (from, before) = (cursor.moment(0), cursor.moment(1))
        }
        var list = APIList("alerts", [("device", device.id.text)], as: format, header: ValueRow.header(ValueRow.alerts))
        let found: [AlertEvent]
        do throws(StoreError) {
            found = try await sources.reader.alerts(of: device.id, before: before, limit: limit)
        } catch { throw .store(error.message) }
        let encoder = sources.encoder
        for event in found where event.measuredAt >= from {
            let person = device.wearers.person(user: event.user)
            guard call.grant.owns(device) && call.query[.person] == nil || call.shows(person: person) else { continue }
            var object = JSONWriter()
            encoder.line(of: event, device: device.id, person: person, to: &object)
            list.add {
                $0.raw(bytes: object.bytes)
            } row: {
                ValueRow.append(object.bytes, ValueRow.alerts, to: &$0)
            }
        }
        let last = found.last.flatMap { found.count < limit || $0.measuredAt <= from ? nil : $0.measuredAt }
        return list.answer(to: call, next: last.map { APICursor([from.milliseconds, $0.milliseconds]) })
    }
}

extension APICursor {
    /// The page behind a sample.
    fileprivate init(_ key: SampleKey, _ range: Range<Timestamp>) {
        self.init([
            range.lowerBound.milliseconds, range.upperBound.milliseconds, key.start.milliseconds,
            key.end.milliseconds, key.code,
        ])
    }
}

extension LocalDay {
    /// The day with a number, or the nearest one that has a text.
    fileprivate init(clamping number: Int64) {
        self.init(number: min(max(Int(clamping: number), Self.earliest.number), Self.latest.number))
    }
}

/// An object of the contract as a row of a table.
private enum ValueRow {
    /// The columns of days. A dot leads into a member; of a sample there is its value.
    static let days = [
        "device", "metric", "date", "tz", "day_start", "rev", "final", "updated_at", "count", "manual_count",
        "auto_count", "average", "average.systolic", "average.diastolic", "average.pulse", "maximum", "minimum",
        "total",
        "distance_m", "energy_kcal", "deep_min", "light_min", "rem_min", "awake_min", "asleep_min", "in_bed_min",
        "start", "end", "sessions",
    ]
    static let alerts = [
        "device", "person", "event_type", "id", "raised_id", "rule", "edge", "metric", "value", "limit", "unit",
        "origin", "measured_at", "raised_at", "sample_id", "acknowledged_by", "acknowledged_at",
    ]

    static func header(_ columns: [String]) -> String {
        columns.map { $0.replacing(".", with: "_") }.joined(separator: ",") + "\r\n"
    }

    static func append(_ object: [UInt8], _ columns: [String], to table: inout [UInt8]) {
        let object = (try? JSONValue(parsing: object)) ?? .null
        let cells = columns.map { column in
            column.split(separator: ".").reduce(Optional(object)) { value, key in value?[String(key)] }.map(cell) ?? ""
        }
        table += (cells.joined(separator: ",") + "\r\n").utf8
    }

    private static func cell(_ value: JSONValue) -> String {
        switch value {
        case .null, .array: return ""
        case .bool(let flag): return flag ? "true" : "false"
        case .string(let text): return SampleRows.cell(text)
        case .number(let number):
            var writer = JSONWriter()
            writer.double(number)
            return String(decoding: writer.bytes, as: UTF8.self)
        case .object: return value["value"].map(cell) ?? ""
        }
    }
}
