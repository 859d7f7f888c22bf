import Contract
import Testing
import Vitals

@testable import Gateway

@Suite struct AnswerPageTests {
    private static let noon = Timestamp(milliseconds: 1_795_219_200_000)

    /// Sleeps with the most stages that a sample may have: an answer fits only a few of them.
    private static func sleeps(_ count: Int, stages: Int) throws -> [StoredSample] {
        let device = try #require(DeviceID("ring-1"))
        return (0..<count).map { index in
            let start = noon + .days(index)
            let parts = (0..<stages).map { part in
                Sleep.Stage(.light, from: start + .seconds(30 * part), to: start + .seconds(30 * part + 30))
            }
            let sample = Sample(
                metric: .sleep, start: start, end: start + .seconds(30 * stages), reading: .sleep(Sleep(stages: parts)))
            return StoredSample(
                sample: sample, of: device, revision: 1, receivedAt: start)
        }
    }

    private static func fitted(_ samples: [StoredSample]) throws -> (samples: [StoredSample], next: String?) {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let gateway = try #require(DeviceID("home"))
        var encoder = ContractEncoder(topics: ContractTopics(gateway: gateway), calendar: calendar)
        let answer = Answer(.done, data: .samples(samples, metric: .sleep, next: nil))
        guard case .samples(let fitted, .sleep, let next) = CommandLog.fitted(answer, about: nil, by: &encoder).data
        else {
            Issue.record("the answer has no samples any more")
            return ([], nil)
        }
        return (fitted, next)
    }

    @Test func `a page of long sleeps ends early, and the next one begins behind it`() throws {
        let samples = try Self.sleeps(10, stages: 2_000)
        let (page, next) = try Self.fitted(samples)
        #expect((1..<10).contains(page.count))
        #expect(page == Array(samples.prefix(page.count)))
        let last = try #require(page.last)
        #expect(next == SampleKey(last.sample).page)
    }

    @Test func `a page that fits stays as it is`() throws {
        let samples = try Self.sleeps(10, stages: 4)
        let (page, next) = try Self.fitted(samples)
        #expect(page == samples)
        #expect(next == nil)
    }
}
