import Testing
import Vitals

@testable import Phones

/// Stages of sleep that several wearables send, each for itself.
@Suite struct NightSourceTests {
    @Test func `a hundred sources have sleeps of their own, and further ones share one`() {
        let start = Timestamp(milliseconds: 1_795_000_000_000)
        var nights = Nights()
        for number in 0..<102 {
            nights.add(Sleep.Stage(.light, from: start, to: start + .hours(1)), source: "watch \(number)")
        }
        var sleeps: [Sample] = []
        while let sleep = nights.next() { sleeps.append(sleep) }
        #expect(sleeps.count == 101)
    }
}
