import Foundation
import JSON
import Testing
import Vitals

@testable import HomeAssistantStatistics

/// The answers of Home Assistant come over the network, and are checked.
@Suite struct StatisticRowTests {
    @Test func `a row has the times and numbers of its answer`() throws {
        let row = try #require(
            StatisticRow(["start": 1_795_000_000_000, "state": 5, "sum": 7.5, "last_reset": 1_794_960_000_000]))
        #expect(
            row
                == StatisticRow(
                    start: Timestamp(seconds: 1_795_000_000), state: 5, sum: 7.5,
                    lastReset: Timestamp(seconds: 1_794_960_000)))
    }

    @Test(arguments: ["1e300", "-1e300", "9.3e18", "253402300800000", "-62167219200001", "null", "\"2026\"", "[]"])
    func `a time that no calendar has is none`(text: String) throws {
        let number = try JSONValue(parsing: Array(text.utf8))
        #expect(StatisticRow(["start": number]) == nil)
        let row = try #require(StatisticRow(["start": 1_795_000_000_000, "last_reset": number, "sum": 1]))
        #expect(row.lastReset == nil && row.sum == 1)
    }

    /// The seconds of the processor that this thread has used, whatever else runs.
    private var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `a count since the year one is summed at once`() throws {
        let before = processorTime
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let now = Timestamp(seconds: 1_795_000_000)
        let row = StatisticRow(start: now - .hours(5), state: 0, sum: 0, lastReset: Timestamp.earliest)
        let anchor = try #require(SumAnchor(row, samplesSince: nil))
        var hours = CountedHours(from: anchor, calendar: calendar)
        hours.add(Observation(at: now - .hours(1), 40))
        #expect(hours.sum(at: now) == 40)
        // Going through its 18 million hours takes longer.
        #expect(processorTime - before < 1)
    }
}
