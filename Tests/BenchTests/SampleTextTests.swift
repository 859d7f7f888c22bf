import JSON
import Testing

@testable import vitals2mqtt_bench

/// Checks that the feeder's lines conform to Vitals Link.
@Suite struct SampleTextTests {
    @Test func `a notification is one line with the sample`() throws {
        var line: [UInt8] = []
        SampleText(.notification, isFine: true)
            .append(to: &line, key: 5, start: 1_763_712_000_042, microseconds: 137)
        #expect(line.last == UInt8(ascii: "\n"))
        let text = try JSONValue(parsing: line)
        #expect(text["method"]?.asString == "sample")
        #expect(text["id"] == nil)
        let sample = text["params"]?["sample"]
        #expect(sample?["metric"]?.asString == "heart_rate")
        #expect(sample?["start"]?.asInt64 == 1_763_712_000_042)
        #expect(sample?["end"]?.asInt64 == 1_763_712_000_042)
        #expect(sample?["value"]?.asDouble == 65.137)
    }

    @Test func `a request's number leads back to its key`() throws {
        var line: [UInt8] = []
        SampleText(.request, isFine: true).append(to: &line, key: 42, start: 1_763_712_000_000, microseconds: 0)
        #expect(try JSONValue(parsing: line)["id"]?.asInt == SampleText.firstRequest + 42)
    }

    @Test func `a whole page of history stays below the limit of a line`() throws {
        var page: [UInt8] = []
        let plan = FeedPlan(base: 1_763_712_000_000, step: 30_000, historyCount: 2000, deviceCount: 1)
        SampleStock.renderHistory(0..<2000, of: plan, to: &page)
        #expect(page.count < 256 * 1024 - 200)
        page.removeLast()
        let samples = try JSONValue(parsing: Array("[".utf8) + page + Array("]".utf8)).asArray
        #expect(samples?.count == 2000)
        let last = samples?.last?["start"]?.asInt64
        let expected: Int64 = 1_763_712_000_000 + 1999 * 30_000
        #expect(last == expected)
    }
}
