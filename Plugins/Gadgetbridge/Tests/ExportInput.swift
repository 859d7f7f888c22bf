import Exports
import Foundation
import GatewayKit
import Logging
import Vitals

@testable import ExportDrivers
@testable import Gadgetbridge

/// Invariants of reading a whole file, database or zip, for any bytes: what is damaged is refused with a reason, and what is read
/// has an order, an end, and no impossible sample. The fuzzer checks them with endless files, the tests with mutations by seeds
/// and with those that once failed.
enum ExportInput {
    private static let now = Timestamp(seconds: 1_767_614_400)
    private static let file = FileManager.default.temporaryDirectory
        .appending(path: "vitals2mqtt-input-\(ProcessInfo.processInfo.processIdentifier)")

    /// What a file came to: the reason for which it was refused, if it was, and the violations.
    static func result(of bytes: [UInt8], at place: URL = file) -> (refusal: ExportError?, mistakes: [String]) {
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
            let export = try OpenExport(stamp, GadgetbridgeOptions(path: place.path), context)
            return (nil, try mistakes(in: export, calendar))
        } catch let error as ExportError {
            return (error, error.message.isEmpty ? ["a refusal without a reason"] : [])
        } catch {
            return (nil, ["\(error)"])
        }
    }

    private static func mistakes(in export: OpenExport, _ calendar: LocalCalendar) throws(ExportError) -> [String] {
        var mistakes: [String] = []
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
                    if sample.start < last { mistakes.append("\(metric) is out of order at \(sample)") }
                    if !sample.violations.isEmpty { mistakes.append("\(sample): \(sample.violations)") }
                    last = sample.start
                    digests.add(sample)
                }
            } while request.page != nil && mistakes.isEmpty
        }
        if mistakes.isEmpty, digests != export.digests { mistakes.append("pages have other samples than the whole") }
        return mistakes
    }
}
