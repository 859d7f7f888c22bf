package import GatewayKit
import Synchronization
package import Vitals

extension DriverConformance {
    /// The most records of a metric to discover: the suite reads each on its own page.
    static let discoveredRecords = 40
    /// The most consecutive empty pages before a history counts as endless; the gateway has the same limit.
    static let emptyPages = 10
    /// The most pages of a history.
    static let pages = 10_000
    /// For how many days before today the suite reads the summaries.
    static let discoveredDays = 3

    /// What the suite has discovered about an unknown device.
    package struct Discovery: Sendable {
        /// The device's own description.
        package var description: DeviceDescription
        /// Its present content, for comparison with later answers.
        package var expectation: Expectation
        /// Its monitoring configurations.
        package var monitoring: [Metric: MonitorConfiguration] = [:]
    }

    /// Reads everything that the suite has to know from a device. It changes nothing but the clock, which it sets
    /// right.
    ///
    /// A read that fails or exceeds the timeout is a violation, and its result is not part of the expectation.
    package func discover(calendar: LocalCalendar) async -> (discovery: Discovery?, violations: [Violation]) {
        let result = Mutex<Discovery?>(nil)
        let violations = await session(.history) { session, _, violations in
            var discovery = Discovery(description: session.description, expectation: self.expectation)
            let capabilities = session.description.capabilities
            discovery.expectation.hasSettableClock = await self.canSetClock(session, calendar, violations)
            for metric in capabilities.configurable {
                discovery.monitoring[metric] = await violations.value { try await self.configuration(session, metric) }
            }
            for metric in capabilities.metrics(with: .history) {
                let records = await violations.value { try await self.newestRecords(of: metric, session) }
                discovery.expectation.history[metric] = records ?? []
            }
            let today = calendar.day(of: self.clock.now)
            let days = today.advanced(by: -Self.discoveredDays)...today.advanced(by: -1)
            discovery.expectation.summaryDays = days
            for metric in capabilities.metrics(with: .summary) {
                discovery.expectation.summaries[metric] = await violations.value {
                    try await self.inTime("the summaries of \(metric.rawValue)") {
                        try await session.summaries(of: metric, days: days)
                    }
                }
            }
            result.withLock { [discovery] in $0 = discovery }
        }
        return (result.withLock { $0 }, violations)
    }

    /// Restores a device's monitoring, sets its clock right, and reads the clock in a new session.
    package func restore(_ discovery: Discovery, calendar: LocalCalendar) async -> [Violation] {
        let violations = await session(.monitoring) { session, _, violations in
            for (metric, configuration) in discovery.monitoring {
                try await self.inTime("writing the monitoring of \(metric.rawValue)") {
                    try await session.setMonitorConfiguration(configuration)
                }
            }
            if discovery.expectation.hasSettableClock == true {
                _ = await self.canSetClock(session, calendar, violations)
            }
        }
        return discovery.expectation.hasSettableClock == true ? violations + (await checkRightClock()) : violations
    }

    private func canSetClock(
        _ session: any DeviceSession, _ calendar: LocalCalendar, _ violations: Violations
    ) async -> Bool {
        let now = clock.now
        do {
            try await inTime("setting the clock") {
                try await session.setClock(now, utcOffset: calendar.offset(at: now).seconds / 60)
            }
            return true
        } catch {
            let code = (error as? DeviceError)?.code
            if code != .unsupported { violations.add("setting the clock threw \(error).", code) }
            return false
        }
    }

    /// The newest records of a metric: complete from the first one's start on.
    private func newestRecords(of metric: Metric, _ session: any DeviceSession) async throws -> [Sample] {
        var request = HistoryRequest(
            metric: metric, from: SampleLimits.moments.lowerBound, to: SampleLimits.moments.upperBound)
        var samples: [Sample] = []
        var last: [Sample] = []
        var names: Set<String> = []
        var empty = 0
        for _ in 0..<Self.pages {
            let page = try await inTime("a page of \(metric.rawValue)") { [request] in
                try await session.history(request)
            }
            samples += page.samples
            samples.removeFirst(max(0, samples.count - HistoryRequest.maximumLimit))
            guard let next = page.next else { return Self.tail(samples) }
            empty = page.samples.isEmpty ? empty + 1 : 0
            let isStuck = !page.samples.isEmpty && page.samples == last
            guard names.insert(next).inserted, empty <= Self.emptyPages, !isStuck else { break }
            last = page.samples
            request.page = next
        }
        throw DeviceError(
            .failure, "The history of \(metric.rawValue) never ends: the same page comes again and again.")
    }

    private static func tail(_ samples: [Sample]) -> [Sample] {
        guard samples.count > discoveredRecords else { return samples }
        let before = samples[samples.count - discoveredRecords - 1].start
        return samples.filter { $0.start > before }
    }
}

extension Violations {
    /// The result of `body`, or a violation and `nil` if it fails.
    fileprivate func value<Value>(_ body: () async throws -> Value) async -> Value? {
        do { return try await body() } catch {
            add("failed: \(error)", (error as? DeviceError)?.code)
            return nil
        }
    }
}
