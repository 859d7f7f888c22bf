import Engines
import Testing
import Vitals

@Suite struct DayMachineTests {
    private static let today = Fixture.utc.day(of: Fixture.noon)

    private static func steps(_ count: Int, on day: LocalDay = today) -> DailySummary {
        var summary = DailyAccumulator(metric: .steps, day: day).summary
        summary.details = .count(total: Double(count), distance: nil, energy: nil)
        return summary
    }

    private static func count(_ summary: DailySummary?) -> Int? {
        if case .count(let total, _, _) = summary?.details { Int(total) } else { nil }
    }

    @Test func `says what counts now, also if it was more before`() {
        let machine = DayMachine()
        #expect(Self.count(machine.record(of: Self.steps(100), at: Fixture.noon).summary) == 100)
        #expect(Self.count(machine.record(of: Self.steps(80), at: Fixture.noon).summary) == 80)
    }

    @Test func `what the device says of the day goes with it, until the day is over`() {
        var machine = DayMachine()
        #expect(machine.recordDeviceSummary(Self.steps(90)) == true)
        #expect(machine.recordDeviceSummary(Self.steps(90)) == false)
        #expect(machine.recordDeviceSummary(Self.steps(91)) == true)
        #expect(machine.hasDeviceSummary(.steps, on: Self.today))
        #expect(Self.count(machine.record(of: Self.steps(80), at: Fixture.noon).deviceSummary) == 91)
        let tomorrow = Self.today.advanced(by: 1)
        #expect(machine.record(of: Self.steps(1, on: tomorrow), at: Fixture.noon).deviceSummary == nil)
    }

    @Test func `a day is due when it is over, the oldest first`() {
        let days = (-2...1).map { MetricDay(.steps, Self.today.advanced(by: $0)) }
        let other = MetricDay(.heartRate, Self.today.advanced(by: -1))
        #expect(DayMachine.due(Set(days + [other]), today: Self.today) == [days[0], other, days[1]])
        #expect(DayMachine.due([], today: Self.today).isEmpty)
    }
}
