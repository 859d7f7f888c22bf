package import Foundation
import GatewayKit
import Logging
package import Phones
package import Vitals

/// What must hold of any file that is read as an export, database or zip: what is damaged is refused with a reason, and what is read
/// has an order, an end, and no impossible sample. Fuzzers check it with endless files, tests with mutations by seeds and with files
/// that once failed.
package enum ExportViolations {
    /// What a file came to: the reason for which it was refused, if it was, and the violations.
    package typealias Result = (refusal: ExportError?, issues: [String])

    /// Reads a file that has these bytes.
    /// - Parameters:
    ///   - place: where it is written meanwhile.
    ///   - now: the time of the reading; later rows are of the future.
    ///   - choose: the options for a file at a path.
    package static func result<Format: ExportFormat>(
        of bytes: [UInt8], at place: URL, now: Timestamp, _ choose: (_ path: String) -> Format
    ) -> Result {
        do {
            try Data(bytes).write(to: place)
            defer { try? FileManager.default.removeItem(at: place) }
            guard let stamp = FileStamp(of: place.path), let device = DeviceID("band"),
                let calendar = LocalCalendar(identifier: "Europe/Berlin")
            else { return (nil, ["the file is gone"]) }
            let clock = GatewayClock(date: { now }, steady: ContinuousClock(), steadyNow: { .zero })
            let context = SessionContext(
                device: device, gateway: (name: "test", version: "1"), calendar: calendar, clock: clock,
                logger: Logger(label: "input") { _ in SwiftLogNoOpLogHandler() })
            let export = try OpenExport(stamp, choose(place.path), context)
            return (nil, try issues(in: export, calendar, now))
        } catch let error as ExportError {
            return (error, error.message.isEmpty ? ["a refusal without a reason"] : [])
        } catch {
            return (nil, ["\(error)"])
        }
    }

    private static func issues(
        in export: OpenExport, _ calendar: LocalCalendar, _ now: Timestamp
    ) throws(ExportError) -> [String] {
        var issues: [String] = []
        var digests = Digests()
        for metric in export.device.feeds.keys {
            var request = HistoryRequest(
                metric: metric, from: OpenExport.earliest, to: now + OpenExport.future, limit: 37)
            var last = OpenExport.earliest
            repeat {
                let page = try export.page(request, calendar: calendar, now: now)
                if page.next == request.page, page.next != nil { return ["\(metric) stands still"] }
                request.page = page.next
                for sample in page.samples {
                    if sample.start < last { issues.append("\(metric) is out of order at \(sample)") }
                    if !sample.violations.isEmpty { issues.append("\(sample): \(sample.violations)") }
                    last = sample.start
                    digests.add(sample)
                }
            } while request.page != nil && issues.isEmpty
        }
        if issues.isEmpty, digests != export.digests { issues.append("pages have other samples than the whole") }
        return issues
    }
}
