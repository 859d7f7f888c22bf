import JSON
import Vitals

/// Checks the pages of history in a device's answers.
struct HistoryAudit: Sendable {
    /// The progress of one reading: a first page, and the pages that `next` names.
    private struct Reading: Sendable {
        var pages: Set<String> = []
        var last: Timestamp?
    }
    private var readings: [String: Reading] = [:]

    private enum Key: String, CaseIterable {
        case samples, next
        static let words = JSONWords(of: Key.self)
    }

    /// Checks the result of a call and returns the violations.
    mutating func audit(_ result: JSONReader, of call: LinkCallRecord) -> [LinkAudit.Violation] {
        let page = call.params["page"] ?? .null
        let name = ["metric", "from", "to", "limit"].map { call.params[$0]?.text ?? "" }.joined(separator: " ")
        var reading = page.isNull ? Reading() : readings[name] ?? Reading()
        defer { readings[name] = reading }
        var violations: [LinkAudit.Violation] = []
        let metric = call.params["metric"]?.asString ?? ""
        func add(_ rule: LinkRule, _ text: String) {
            violations.append(LinkAudit.Violation(rule: rule, text: "\(metric): \(text)"))
        }
        var result = result
        var count = 0
        var malformed = 0
        var firstProblem: (rule: LinkRule, reason: String)?
        var next = JSONValue.null
        var beforeLast = false
        do {
            try result.beginObject()
            while let key = try result.nextKey(in: Key.words) {
                guard key == .samples else {
                    next = try JSONValue(from: &result)
                    continue
                }
                try result.beginArray()
                while try result.nextElement() {
                    count += 1
                    let start = result.index
                    var attempt = result
                    do throws(Malformed) {
                        let sample = try Sample(link: &attempt)
                        result = attempt
                        if let problem = Self.problem(of: sample, call) { add(.history, "record \(count) \(problem)") }
                        if let last = reading.last, sample.start < last { beforeLast = true }
                        reading.last = max(reading.last ?? sample.start, sample.start)
                    } catch {
                        malformed += 1
                        let problem = LinkAudit.wrongTime(in: try JSONValue(from: &result))
                        firstProblem = firstProblem ?? problem ?? (.samples, error.sentence(lineStart: start))
                    }
                }
            }
        } catch {
            // The driver cannot read it either, and reports that itself.
            return violations
        }
        if let (rule, reason) = firstProblem {
            add(rule, "\(malformed) of \(count) records of a page are no samples. The first of them: \(reason)")
        }
        if beforeLast { add(.history, "records do not ascend by start.") }
        if let limit = call.params["limit"]?.asInt, count > limit {
            add(.history, "a page has \(count) records; at most \(limit) were asked for.")
        }
        if !next.isNull, !reading.pages.insert(next.text).inserted {
            add(.pages, "the page \(next.text) comes again and again, so the history never ends.")
        }
        return violations
    }

    private static func problem(of sample: Sample, _ call: LinkCallRecord) -> String? {
        if sample.metric.rawValue != call.params["metric"]?.asString { return "is of \(sample.metric.rawValue)." }
        let start = sample.start.milliseconds
        if let from = call.params["from"]?.asInt64, start < from { return "starts at \(start), before \(from)." }
        if let to = call.params["to"]?.asInt64, start >= to { return "starts at \(start), which is not before \(to)." }
        return nil
    }
}
