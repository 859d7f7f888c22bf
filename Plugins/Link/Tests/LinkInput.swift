import GatewayKit
import JSON
import Vitals

@testable import Link

/// Invariants of the parsers of Vitals Link, for any input. The fuzzer checks them with endless inputs, the tests with
/// those that once failed.
enum LinkInput {
    /// The violations after parsing these bytes, as lines and as the content of an answer. A trap is a violation of its
    /// own.
    static func issues(in bytes: [UInt8]) -> [String] {
        let whole = Lines(bytes, chunk: max(1, bytes.count))
        var issues = whole.issues
        // The size of the pieces must make no difference.
        let pieces = Lines(bytes, chunk: bytes.count % 7 + 1)
        if pieces != whole { issues.append("in pieces it is \(pieces), as a whole \(whole)") }
        for metric in [Metric.stress, .sleep, .steps, .sport, .bloodPressure] { issues += page(bytes, metric) }
        guard let value = try? JSONValue(parsing: bytes) else { return issues }
        if (try? JSONValue(parsing: value.bytes)) != value { issues.append("\(value) does not survive writing") }
        _ = try? DeviceDescription(link: value)
        for metric in Metric.allCases { issues += answers(value, metric) }
        return issues
    }

    private static func page(_ bytes: [UInt8], _ metric: Metric) -> [String] {
        var reader = JSONReader(bytes)
        guard let page = try? HistoryPage(link: &reader, of: metric) else { return [] }
        var issues: [String] = []
        if page.samples.contains(where: { $0.metric != metric }) { issues.append("a page of \(metric) has others") }
        if zip(page.samples, page.samples.dropFirst()).contains(where: { $0.start > $1.start }) {
            issues.append("a page is out of order")
        }
        return issues
    }

    private static func answers(_ value: JSONValue, _ metric: Metric) -> [String] {
        _ = MonitorConfiguration(link: value, of: metric)
        guard let device = DeviceID("a") else { return [] }
        let decoder = SummaryDecoder(device: device, metric: metric, receivedAt: Timestamp(seconds: 0))
        return (decoder.summaries(in: value) ?? []).flatMap { summary -> [String] in
            let isRight = summary.metric == metric && summary.count >= summary.manualCount && summary.manualCount >= 0
            return isRight ? [] : ["\(summary) is no summary of \(metric)"]
        }
    }

    /// What is wrong with the check of a parsed sample. It may be impossible: the gateway refuses it.
    fileprivate static func check(_ sample: Sample) -> [String] {
        sample.isValid == sample.violations.isEmpty ? [] : ["\(sample) is and is not valid"]
    }

    /// The result of parsing lines.
    private struct Lines: Equatable {
        var events: [DeviceEvent] = []
        var answers: [String] = []
        var replies: [UInt8] = []
        var logs: [String] = []
        var isTooLong = false

        init(_ bytes: [UInt8], chunk: Int) {
            var splitter = LineSplitter()
            var inbound = Inbound()
            for start in stride(from: 0, to: bytes.count, by: chunk) {
                splitter.append(Array(bytes[start..<min(start + chunk, bytes.count)]))
                do {
                    while let line = try splitter.next() { inbound.receive(line, of: splitter.bytes) }
                } catch {
                    isTooLong = true
                    break
                }
            }
            inbound.flush()
            events = inbound.events
            answers = inbound.answers.map { "\($0.id) \($0.answer)" }
            replies = inbound.replies.bytes
            logs = inbound.logs.map { "\($0.level) \($0.message)" }
        }

        var issues: [String] {
            var result: [String] = []
            for event in events {
                switch event {
                case .samples(let samples, let receipts):
                    result += samples.flatMap { LinkInput.check($0) }
                    if samples.isEmpty { result.append("an event without samples") }
                    if !receipts.isEmpty, receipts.count != samples.count { result.append("receipts are missing") }
                case .battery(let percent, _):
                    if !(0...100).contains(percent) { result.append("a battery of \(percent) %") }
                default: break
                }
            }
            for reply in replies.split(separator: UInt8(ascii: "\n")) {
                // An id is repeated verbatim and may be a number beyond `Double`, so only the grammar is checked.
                var reader = JSONReader(Array(reply))
                if (try? reader.raw()) != nil, (try? reader.expectEnd()) != nil { continue }
                result.append("the reply \(String(decoding: reply, as: UTF8.self)) is no JSON")
            }
            if logs.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) { result.append("a log of two lines") }
            return result
        }
    }
}
