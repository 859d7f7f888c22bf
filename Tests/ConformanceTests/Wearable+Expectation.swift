import Conformance
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import link_wearable

extension Wearable {
    /// The most records of a metric to compare: the suite reads each on its own page.
    private static let recordLimit = 40

    /// The expected content of this wearable, as its own driver reports it at noon.
    func expectation(timeout: Duration) throws -> DriverConformance.Expectation {
        try Simulation.run(seed: 1, start: Self.noon, deadline: .hours(1)) { environment in
            let answer = Recorder<DriverConformance.Expectation>()
            try await withDevice(clock: environment.gatewayClock) { device in
                var expectation = DriverConformance.Expectation(
                    disconnectsGracefully: true, measurementDuration: .seconds(3), timeout: timeout)
                let capabilities = device.description.capabilities
                for metric in capabilities.metrics(with: .history) {
                    let records = try await Self.records(of: metric, device)
                    #expect(!records.isEmpty, "\(metric.rawValue) has no records")
                    expectation.history[metric] = records
                }
                // Today's summary changes while the suite runs; the first day of the history is incomplete.
                let today = LocalDay(number: Int(Self.noon.milliseconds / 86_400_000))
                let days = today.advanced(by: 2 - Self.historyDays)...today.advanced(by: -1)
                for metric in capabilities.metrics(with: .summary) {
                    let summaries = try await device.summaries(of: metric, days: days)
                    #expect(!summaries.isEmpty, "\(metric.rawValue) has no summaries")
                    expectation.summaries[metric] = summaries
                }
                expectation.summaryDays = days
                answer.append(expectation)
            }
            return try #require(answer.elements.first)
        }
    }

    /// The newest records of a metric: complete from the first one's start on.
    private static func records(of metric: Metric, _ device: any DeviceSession) async throws -> [Sample] {
        // Half a day at the beginning of the history may be dropped while the suite runs.
        let days = metric.isInterval || metric == .restingHeartRate ? 7 : 2
        var request = HistoryRequest(metric: metric, from: noon - .days(days), to: noon + .milliseconds(1))
        var all: [Sample] = []
        repeat {
            let page = try await device.history(request)
            all += page.samples
            request.page = page.next
        } while request.page != nil
        guard all.count > recordLimit else { return all }
        let before = all[all.count - recordLimit - 1].start
        return all.filter { $0.start > before }
    }
}
