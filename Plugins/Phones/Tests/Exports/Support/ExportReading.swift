import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import Phones

extension OpenExport {
    /// All samples of a metric, as read page by page.
    /// - Parameter takesBack: whether also what takes back the values of empty rows.
    func samples(_ metric: Metric, zone: String, limit: Int, takesBack: Bool = false) throws -> [Sample] {
        let calendar = try #require(LocalCalendar(identifier: zone))
        let end = Timestamp(seconds: 4_000_000_000)
        var request = HistoryRequest(metric: metric, from: Timestamp(seconds: 0), to: end, page: nil, limit: limit)
        var samples: [Sample] = []
        repeat {
            let found = try page(request, calendar: calendar, now: end, takesBack: takesBack)
            samples += found.samples
            request.page = found.next
        } while request.page != nil
        return samples
    }
}

extension ExportDriver {
    /// A driver that reads in simulated time.
    convenience init(_ options: Format, in simulation: Simulation) {
        self.init(options, reading: simulation.executor.serialExecutor(), opening: simulation.executor.serialExecutor())
    }
}
