import Foundation
package import GatewayKit
package import Vitals

/// Says what an export of Apple's Health app has. It reads all of it, and says on a terminal how far it is.
package enum AppleExportInspector: SourceInspector {
    package static var takes: String { "an export of Apple's Health app: export.zip, or its export.xml" }

    private struct Found {
        var count = 0
        var first = Timestamp.latest
        var last = Timestamp.earliest
        var sources: Set<String> = []
    }

    package static func inspect(
        _ path: String, calendar: LocalCalendar, now: Timestamp
    ) throws(SourceError) -> SourceReport? {
        do throws(ExportError) {
            let stamp = try ExportInput.place(path).newest()
            let export = AppleExport(try ExportBytes(stamp))
            var found: [Metric: Found] = [:]
            var reasons = DocumentReport()
            var shown = -1
            while true {
                guard let record = export.next() else {
                    if export.isAtEnd { break }
                    if isatty(STDERR_FILENO) == 1, case let percent = Int(export.share * 100), percent > shown {
                        FileHandle.standardError.write(Data("\r\(percent) %".utf8))
                        shown = percent
                    }
                    continue
                }
                switch record {
                case .sample(let sample) where sample.end <= now:
                    var one = found[sample.metric] ?? Found()
                    one.count += 1
                    one.first = min(one.first, sample.start)
                    one.last = max(one.last, sample.start)
                    if one.sources.count < CountSources.maximumNames, let name = sample.origin?.name {
                        one.sources.insert(name.hasPrefix("(export) ") ? String(name.dropFirst(9)) : name)
                    }
                    found[sample.metric] = one
                case .sample: reasons.skip("a record of the future")
                case .skipped(let reason): reasons.skip(reason)
                case .refused(_, let reason): reasons.skip(reason)
                case .nothing, .alert, .battery: break
                }
            }
            if shown >= 0 { FileHandle.standardError.write(Data("\r".utf8)) }
            guard export.hasRecords else { return nil }
            return report(export, found, reasons, of: stamp, path)
        } catch {
            if error.code == .foreign || error.code == .missing { return nil }
            throw SourceError(error.message)
        }
    }

    private static func report(
        _ export: AppleExport, _ found: [Metric: Found], _ reasons: DocumentReport, of stamp: FileStamp, _ path: String
    ) -> SourceReport {
        let records = Metric.allCases.compactMap { metric in
            found[metric].map {
                SourceReport.Records(
                    metric, count: $0.count, first: $0.first, last: $0.last, places: $0.sources.sorted())
            }
        }
        var omissions = export.leftOut.sorted { $0.key < $1.key }.map {
            SourceReport.Omission($0.key, count: $0.value, reason: "the gateway has no such metric")
        }
        omissions += reasons.skipped.sorted { $0.key < $1.key }.map {
            SourceReport.Omission("records", count: $0.value, reason: $0.key)
        }
        omissions += export.damage.map { SourceReport.Omission($0.what, count: $0.count, reason: $0.reason) }
        return SourceReport(
            file: stamp.path, kind: "an export of Apple's Health app",
            devices: [
                SourceReport.Device(
                    name: "Apple Health", records: records, omissions: omissions,
                    notes: [export.problem].compactMap(\.self),
                    driver: HealthAutoExport.driver, options: [SourceReport.Option("export", path)],
                    remark: "It needs a transport: that of the posts of Health Auto Export, or transport: {type: file}."
                )
            ])
    }
}
