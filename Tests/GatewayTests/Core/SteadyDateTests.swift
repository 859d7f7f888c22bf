import Gateway
import Testing
import Vitals

@Suite struct SteadyDateTests {
    @Test func `a date is trusted after an hour, counted again from each time that it was set`() {
        var date = SteadyDate()
        var jump = Duration.zero
        func trusted(_ minute: Int) -> Bool {
            date.isTrusted(at: Timestamp(seconds: 1_795_262_400) + .minutes(minute) + jump, uptime: .minutes(minute))
        }
        #expect((0..<60).allSatisfy { !trusted($0) })
        #expect(trusted(60))
        jump = .days(400)
        #expect((61..<121).allSatisfy { !trusted($0) })
        jump = .zero
        #expect((121..<181).allSatisfy { !trusted($0) })
        #expect(trusted(181))
        // A clock that is adjusted, or runs slightly fast, was not set.
        jump = SteadyDate.tolerance
        #expect(trusted(182))
        jump = .seconds(-1)
        #expect(!trusted(183))
    }
}
