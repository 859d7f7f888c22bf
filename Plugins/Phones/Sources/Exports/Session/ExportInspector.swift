package import GatewayKit
package import Vitals

/// Says what an export of an app has, device by device, as the driver reads it.
package enum ExportInspector<Format: ExportFormat>: SourceInspector {
    package static var takes: String {
        "an export of \(Format.app): its SQLite database, or a zip with the entry \(Format.entry)"
    }

    package static func inspect(
        _ path: String, calendar: LocalCalendar, now: Timestamp
    ) throws(SourceError) -> SourceReport? {
        do throws(ExportError) {
            let stamp = try Format.place(path).newest()
            do throws(ExportError) {
                let database = try ExportDatabase(copying: stamp, entry: Format.entry)
                var devices: [SourceReport.Device] = []
                for device in try Format.devices(in: database) {
                    let export = try OpenExport(database, device, calendar: calendar, now: now)
                    devices.append(report(export, path: path))
                }
                return SourceReport(
                    file: stamp.path, kind: "an export of \(Format.app), schema \(database.version)", devices: devices)
            } catch { throw error.of(stamp.path) }
        } catch {
            // Another app's file, or a folder without any of this app.
            if error.code == .foreign || error.code == .missing { return nil }
            throw SourceError(error.message)
        }
    }

    private static func report(_ export: OpenExport, path: String) -> SourceReport.Device {
        let device = export.device
        let records = Metric.allCases.compactMap { metric -> SourceReport.Records? in
            guard let extent = export.extents[metric], let feeds = device.feeds[metric] else { return nil }
            return SourceReport.Records(
                metric, count: extent.count, first: extent.first, last: extent.last,
                places: Set(feeds.map { $0.place }).sorted())
        }
        let rows = SkippedRows.omissions(of: export.skippedRows)
        let tables = device.unknownTables.map { SourceReport.Omission($0, reason: "no rule knows this table") }
        return SourceReport.Device(
            name: device.name, family: device.family, records: records, omissions: rows + tables, notes: device.notes,
            driver: Format.driver,
            options: [SourceReport.Option("path", path)] + device.options.map { SourceReport.Option($0.key, $0.value) },
            remark: device.remark)
    }
}

extension SkippedRows {
    /// What counts of rows without a sample say to a person, by table and reason.
    static func omissions(of counts: [String: [Reason: Int]]) -> [SourceReport.Omission] {
        counts.sorted { $0.key < $1.key }.flatMap { table, reasons in
            reasons.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
                SourceReport.Omission(table, count: count, reason: reason.explanation)
            }
        }
    }
}

extension SkippedRows.Reason {
    /// For a person: why rows give no sample.
    var explanation: String {
        switch self {
        case .notMeasured: "not measured, by the app's own mark"
        case .implausible: "values that no living person has"
        case .unknownCode: "a code whose meaning is unknown"
        case .ambient: "of the air, not of a person"
        case .unspecified: "neither a kind nor a place; if it is known, options.temperature says it: body or skin"
        case .unreadable: "a value of another type, or too short"
        case .checkSum: "the totals of the night disagree with its stages"
        case .incomplete: "a part is missing, such as the end, the stages or the baseline"
        case .tooLong: "a night of more than a day, or a text that is too long"
        case .tooMany: "more of one minute or one day than any wearable makes"
        case .countFell: "a running count that fell within a day"
        case .withoutTime: "no time that can be: none, not a whole number, or not of the years 2000 to 2099"
        case .withoutApp: "of an app that the export does not name, so that nothing says whose they are"
        }
    }
}
