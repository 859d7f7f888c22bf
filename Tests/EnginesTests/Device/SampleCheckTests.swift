import Engines
import GatewayKit
import Testing
import Vitals

@Suite struct SampleCheckTests {
    private static func span(_ start: Int, _ end: Int) -> Sample {
        Sample(
            metric: .steps, start: Fixture.minute(start), end: Fixture.minute(end),
            reading: .count(Increment(count: 1)))
    }

    @Test(
        arguments: [
            (Fixture.heartRate(70, at: 0), nil), (Fixture.heartRate(70, at: 5), nil),
            (Fixture.heartRate(70, at: 6), .future), (Fixture.heartRate(1_000, at: 0), .outOfRange),
            (span(-10, 0), nil), (span(0, -10), .endBeforeStart), (span(-10, 6), .future),
            (span(-8 * 1440, 0), .tooLong),
        ] as [(Sample, RefusalReason?)])
    func `refuses what cannot be true, and what lies in the future`(sample: Sample, reason: RefusalReason?) {
        let refusal = SampleCheck.refusal(of: sample, at: Fixture.noon)
        #expect(refusal?.reason == reason)
        if let refusal { #expect(refusal.error.code == .invalid && !refusal.error.message.isEmpty) }
    }

    @Test func `a record of another metric than the one that was asked for cannot be used`() {
        #expect(SampleCheck.reason(of: Fixture.heartRate(70, at: 0), expecting: .stress) == .malformed)
        #expect(SampleCheck.reason(of: Fixture.heartRate(70, at: 0), expecting: .heartRate) == nil)
    }
}
