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
                || FITSource.isArchive(path)
        else { return nil }
        var found = Found()
        var sources: [FITSource] = []
        for stamp in files {
            do throws(ExportError) { sources += try FITSource.sources(of: stamp) } catch {
                // It may be the export of something else.
                if files.count == 1 { return nil }
                found.refused.append(error.message)
            }
        }
        for source in FITFile.inOrder(sources) {
            do throws(ExportError) { try found.add(source, calendar) } catch {
                // A single file has nothing else to say.
                if sources.count == 1 { throw SourceError(error.message) }
                found.refused.append(error.message)
            }
        }
        if sources.isEmpty { return nil }
        return found.report(path, files: sources.count)
    }

    private struct Found {
        var counts = FITCounts()
        var origins: Set<SampleOrigin> = []
        var records: [Metric: SourceReport.Records] = [:]
        var skipped: [String: [SkippedRows.Reason: Int]] = [:]
        var unread: [UInt16: Int] = [:]
        var foreign: [String: Int] = [:]
        var refused: [String] = []

        mutating func add(_ source: FITSource, _ calendar: LocalCalendar) throws(ExportError) {
            let file = try FITFile(source, FITSamples(counts, order: SourceOrder(), calendar: calendar))
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
            foreign.merge(file.foreign, uniquingKeysWith: +)
        }

        func report(_ path: String, files: Int) -> SourceReport {
            var omissions = refused.map { SourceReport.Omission("a file", reason: $0) }
            omissions += SkippedRows.omissions(of: skipped)
            for (message, count) in unread.sorted(by: { $0.key < $1.key }) {
                omissions.append(
                    SourceReport.Omission("message \(message)", count: count, reason: "nothing of it is read"))
            }
            for (name, count) in foreign.sorted(by: { $0.key < $1.key }) {
                omissions.append(
                    SourceReport.Omission(
                        "a developer's field \(name)", count: count, reason: "it is not in the profile"))
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
