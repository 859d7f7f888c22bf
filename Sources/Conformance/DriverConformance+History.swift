import GatewayKit
import Vitals

extension DriverConformance {
    /// The page sizes to check: the smallest, an odd one, and the greatest.
    static let limits = [1, 7, HistoryRequest.maximumLimit]

    /// Checks that the history is complete, ascending, within the requested range, and the same each time.
    func checkHistory() async -> [Violation] {
        await session(.history) { session, _, violations in
            let metrics = session.description.capabilities.metrics(with: .history)
            violations.expect(
                metrics.isEmpty || metrics.contains { self.expectation.history[$0] != nil },
                "the device has a history, but the expectation says of no metric what is in it.")
            for metric in Metric.allCases {
                let expected = self.expectation.history[metric] ?? []
                guard metrics.contains(metric) else {
                    violations.expect(
                        expected.isEmpty, "\(metric.rawValue) has records, but the capabilities do not name a history.")
                    continue
                }
                guard let first = expected.first, let last = expected.last else { continue }
                let end = last.start + .milliseconds(1)
                for limit in Self.limits {
                    for time in ["first", "second"] {
                        let read = try await self.read(
                            session, HistoryRequest(metric: metric, from: first.start, to: end, limit: limit),
                            violations)
                        self.compare(
                            read, expected, "\(metric.rawValue), pages of \(limit), the \(time) time", violations)
                    }
                }
                // The range includes its start but not its end.
                let inner = try await self.read(
                    session, HistoryRequest(metric: metric, from: first.start, to: last.start), violations)
                self.compare(
                    inner, expected.filter { $0.start < last.start }, "\(metric.rawValue) without the last start",
                    violations)
                let later = try await self.read(
                    session, HistoryRequest(metric: metric, from: first.start + .milliseconds(1), to: end), violations)
                self.compare(
                    later, expected.filter { $0.start > first.start }, "\(metric.rawValue) after the first start",
                    violations)
                for (from, to) in [(first.start, first.start)] + Self.gaps(in: expected) {
                    let none = try await self.read(
                        session, HistoryRequest(metric: metric, from: from, to: to), violations)
                    violations.expect(
                        none.isEmpty, "\(metric.rawValue): a range without records gives \(none.count) of them.")
                }
            }
        }
    }

    /// The first and the last range between the records in which none starts.
    private static func gaps(in records: [Sample]) -> [(Timestamp, Timestamp)] {
        let gaps = zip(records, records.dropFirst()).map { ($0.start + .milliseconds(1), $1.start) }.filter { $0 < $1 }
        return gaps.count > 1 ? [gaps[0], gaps[gaps.count - 1]] : gaps
    }

    /// Reads all pages of a request, and checks each.
    func read(
        _ session: any DeviceSession, _ request: HistoryRequest, _ violations: Violations
    ) async throws -> [Sample] {
        var request = request
        var samples: [Sample] = []
        var pages: Set<String> = []
        // Allows one extra page, which may be empty: a device need not know that a full page was its last.
        let greatest = (expectation.history[request.metric]?.count ?? 0) + 2
        while true {
            let page = try await inTime("a page of \(request.metric.rawValue)") { [request] in
                try await session.history(request)
            }
            violations.expect(
                page.samples.count <= request.limit,
                "\(request.metric.rawValue): a page of \(request.limit) has \(page.samples.count) records.")
            violations.expect(
                page.malformed == 0, "\(request.metric.rawValue): \(page.malformed) good records count as malformed.")
            samples += page.samples
            guard let next = page.next else { return samples }
            guard pages.insert(next).inserted, pages.count <= greatest else {
                violations.add("\(request.metric.rawValue): the page \(next) comes again and again.")
                return samples
            }
            request.page = next
        }
    }

    /// Compares the records read with the expected ones. Records with the same start may come in any order.
    func compare(_ read: [Sample], _ expected: [Sample], _ what: String, _ violations: Violations) {
        violations.expect(
            zip(read, read.dropFirst()).allSatisfy { $0.start <= $1.start },
            "\(what): the records do not ascend by their start.")
        violations.expect(Set(read).count == read.count, "\(what): records come twice.")
        let missing = Set(expected).subtracting(read).count
        let strange = Set(read).subtracting(expected).count
        guard missing + strange > 0 else { return }
        violations.add(
            "\(what): \(read.count) records instead of \(expected.count), \(missing) missing, \(strange) that are not the device's."
        )
    }

    /// Checks that a device is informed how far its history is durable, and keeps all later records.
    func checkAcknowledgement() async -> [Violation] {
        await session(.acknowledgement) { session, peer, violations in
            for metric in session.description.capabilities.metrics(with: .history) {
                guard let records = self.expectation.history[metric], let first = records.first, let last = records.last
                else { continue }
                let middle = records[records.count / 2].start
                for through in [first.start, middle, last.start] {
                    let name = "the acknowledgement of \(metric.rawValue) through \(through)"
                    try await self.inTime("sending \(name)") {
                        try await session.acknowledgeHistory(of: metric, through: through)
                    }
                    await self.expectCall(name, peer, violations) {
                        $0.contains(.acknowledged(metric, through: through))
                    }
                    let left = try await self.read(
                        session,
                        HistoryRequest(
                            metric: metric, from: through + .milliseconds(1), to: last.start + .milliseconds(1)),
                        violations)
                    self.compare(
                        left, records.filter { $0.start > through }, "\(metric.rawValue) after \(through)", violations)
                }
            }
        }
    }
}
