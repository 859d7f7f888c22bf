package import GatewayKit
package import Vitals

/// Says what FIT files have, as the driver reads them.
package enum FITInspector: SourceInspector {
    package static let takes = "FIT files, or a folder with them"

    package static func inspect(
        _ path: String, calendar: LocalCalendar, now: Timestamp
    ) throws(SourceError) -> SourceReport? {
        let place = FITOptions(path: path).place
        guard let files = try? place.files(), !files.isEmpty,
            place.isFolder || path.lowercased().hasSuffix(".fit") || path.lowercased().hasSuffix(".fit.gz")
        else { return nil }
        var found = Found()
        for stamp in FITFile.inOrder(files) {
            do throws(ExportError) { try found.add(stamp, calendar) } catch {
                // A single file has nothing else to say.
                if files.count == 1 { throw SourceError(error.message) }
                found.refused.append(error.message)
            }
        }
        return found.report(path, files: files.count)
    }

    private struct Found {
        var counts = FITCounts()
        var origins: Set<SampleOrigin> = []
        var records: [Metric: SourceReport.Records] = [:]
        var skipped: [String: [SkippedRows.Reason: Int]] = [:]
        var unread: [UInt16: Int] = [:]
        var refused: [String] = []

        mutating func add(_ stamp: FileStamp, _ calendar: LocalCalendar) throws(ExportError) {
            let file = try FITFile(stamp, FITSamples(counts, order: SourceOrder(), calendar: calendar))
            while let samples = try file.portion(1_000) {
                for sample in samples {
                    var record =
                        records[sample.metric]
                        ?? SourceReport.Records(
                            sample.metric, count: 0, first: sample.start, last: sample.start, places: ["FIT files"])
                    record.count += 1
                    record.first = min(record.first, sample.start)
                    record.last = max(record.last, sample.start)
                    records[sample.metric] = record
                }
            }
            counts = file.samples.counts
            origins.formUnion(file.samples.origins)
            for (table, reasons) in file.samples.skipped.counts {
                skipped[table, default: [:]].merge(reasons, uniquingKeysWith: +)
            }
            unread.merge(file.samples.unread, uniquingKeysWith: +)
        }

        func report(_ path: String, files: Int) -> SourceReport {
            var omissions = refused.map { SourceReport.Omission("a file", reason: $0) }
            omissions += SkippedRows.omissions(of: skipped)
            for (message, count) in unread.sorted(by: { $0.key < $1.key }) {
                omissions.append(
                    SourceReport.Omission("message \(message)", count: count, reason: "nothing of it is read"))
            }
            let names = origins.map(\.name).sorted()
            return SourceReport(
                file: path, kind: files == 1 ? "a FIT file" : "a folder of \(files) FIT files",
                devices: [
                    SourceReport.Device(
                        name: names.first ?? "", records: Metric.allCases.compactMap { records[$0] },
                        omissions: omissions,
                        notes: names.count > 1 ? ["It has files of \(names.joined(separator: ", "))."] : [],
                        driver: FITDriver.name, options: [SourceReport.Option("path", path)])
                ])
        }
    }
}
