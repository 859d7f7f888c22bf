import Foundation
import GatewayKit
import Vitals

@testable import Phones

/// Invariants of the readers of documents, for any input. The fuzzers check them with endless inputs, the tests with those that
/// once failed.
enum DocumentInput {
    /// The violations after reading these bytes as a document of an app. A trap is a violation of its own.
    static func issues<App: PhoneApp>(in bytes: [UInt8], of app: App.Type) -> [String] {
        let calendar = LocalCalendar(timeZone: .gmt)
        var issues: [String] = []
        guard let first = records(bytes, of: app, calendar, &issues),
            let second = records(bytes, of: app, calendar, &issues)
        else { return issues }
        if first != second { issues.append("it reads differently the second time") }
        // A record takes at least the two bytes of an element and its comma; a sleep has several stages of its own.
        if first.count > bytes.count + 1 { issues.append("\(first.count) records of \(bytes.count) bytes") }
        for case .nothing(let sample, _) in first where !sample.countsNothing || sample.claim != .correction {
            issues.append("\(sample) is not nothing")
        }
        for case .sample(let sample) in first {
            if sample.claim == .correction { issues.append("\(sample) only corrects") }
            if !app.metrics.contains(sample.metric) { issues.append("\(sample.metric) is not among its metrics") }
            if sample.end < sample.start { issues.append("\(sample) ends before it begins") }
            if sample.isValid != sample.violations.isEmpty { issues.append("\(sample) is valid and is not") }
        }
        for case .alert(let alert) in first where alert.rule.warning != nil || app.driver != ScriptDocument.driver {
            if !app.hasWarnings { issues.append("it has no warnings: \(alert)") }
            if alert.rule.warning == nil || alert.edge == .cleared { issues.append("\(alert) is no warning") }
            for number in [alert.value, alert.limit].compactMap({ $0 }) where !(20...300).contains(number) {
                issues.append("\(number) is no heart rate")
            }
        }
        for case .refused(let member, let reason) in first where "\(member)\(reason)".utf8.count > 400 {
            issues.append("the refusal is long: \(member) \(reason)")
        }
        for case .skipped(let reason) in first where reason.utf8.count > 300 || reason.contains("\n") {
            issues.append("the reason is long: \(reason)")
        }
        return issues
    }

    private static func records<App: PhoneApp>(
        _ bytes: [UInt8], of app: App.Type, _ calendar: LocalCalendar, _ issues: inout [String]
    ) -> [Record]? {
        guard var stream = try? App.records(of: bytes, calendar: calendar, source: nil) else { return nil }
        var records: [Record] = []
        // What is wrong with a document is known before its first record.
        do { while let record = try stream.next() { records.append(record) } } catch {
            issues.append("it fails after \(records.count) records: \(error)")
        }
        return records
    }
}
