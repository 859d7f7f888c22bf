import Testing
import Vitals

@Suite struct DailyRaisedTests {
    private typealias Make = DailySamples

    private func steps(_ count: Int, _ distance: Double?, _ energy: Double?, samples: Int, manual: Int) -> DailySummary
    {
        DailySummary(
            metric: .steps, day: Make.day, count: samples, manualCount: manual, average: nil,
            details: .steps(count: count, distance: distance, energy: energy))
    }

    @Test func `keeps the highest that each counter ever was`() {
        let now = steps(90, 50, nil, samples: 10, manual: 3)
        let before = steps(100, 40, 7, samples: 10, manual: 2)
        let raised = now.raised(over: before)
        #expect(raised.details == .steps(count: 100, distance: 50, energy: 7))
        #expect((raised.manualCount, raised.automaticCount, raised.count) == (3, 8, 11))
        #expect(raised.raised(over: now) == raised)
        #expect(raised.raised(over: before) == raised)
    }

    @Test func `keeps the minutes of sleep and sport`() {
        let longer = Make.summary(.sleep, Make.sleep([(.deep, 60), (.light, 100), (.awake, 5)], at: 0))
        let corrected = Make.summary(.sleep, Make.sleep([(.deep, 80), (.rem, 60)], at: 10))
        guard case .sleep(let totals) = corrected.raised(over: longer).details else {
            Issue.record("a sleep has totals")
            return
        }
        #expect((totals.asleep, totals.deep, totals.light, totals.rem, totals.awake) == (160, 80, 100, 60, 5))
        #expect(totals.start == Make.midnight + .minutes(10))
        #expect(totals.end == Make.midnight + .minutes(150))

        let two = DailySummary(
            metric: .sport, day: Make.day, count: 2, manualCount: 2, average: nil,
            details: .sport(DailySummary.SportTotals(minutes: 60, sessions: 2, distance: 5, energy: nil)))
        let one = DailySummary(
            metric: .sport, day: Make.day, count: 1, manualCount: 1, average: nil,
            details: .sport(DailySummary.SportTotals(minutes: 70, sessions: 1, distance: nil, energy: 3)))
        #expect(
            one.raised(over: two).details
                == .sport(DailySummary.SportTotals(minutes: 70, sessions: 2, distance: 5, energy: 3)))
        #expect(one.raised(over: two).count == 2)
    }

    @Test func `takes means and extremes as they are now`() {
        let before = Make.summary(.heartRate, Make.value(60, at: 1), Make.value(190, at: 2))
        let now = Make.summary(.heartRate, Make.value(60, at: 1))
        let raised = now.raised(over: before)
        #expect(raised.average == 60)
        #expect(raised.details == now.details)
        #expect(raised.count == 2)
    }

    @Test func `starts anew with another day or metric`() {
        let before = steps(100, 40, 7, samples: 10, manual: 2)
        var now = steps(0, nil, nil, samples: 0, manual: 0)
        now.day = Make.day.advanced(by: 1)
        #expect(now.raised(over: before) == now)
        #expect(Make.summary(.sport).raised(over: before) == Make.summary(.sport))
    }
}
