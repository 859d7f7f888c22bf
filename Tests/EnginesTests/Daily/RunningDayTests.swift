import Engines
import Testing
import Vitals

@Suite struct RunningDayTests {
    private let day = LocalDay(number: 20_778)

    @Test func `counts what is new, and nothing twice`() {
        var today = RunningDay(day: day)
        today.add(Fixture.new(Fixture.steps(100, at: 0)))
        today.add(SampleOutcome(stored: Fixture.stored(Fixture.steps(100, at: 0)), novelty: .known))
        #expect(today.summary(of: .steps).details == .count(total: 100, distance: nil, energy: nil))
        #expect(today.changed == [.steps])
        #expect(today.metrics == [.steps])
        #expect(today.outdated.isEmpty)
    }

    @Test func `a correction makes the metric be read again`() {
        var today = RunningDay(day: day)
        today.add(Fixture.new(Fixture.steps(100, at: 0)))
        today.published()
        today.add(SampleOutcome(stored: Fixture.stored(Fixture.steps(80, at: 0), revision: 2), novelty: .corrected))
        #expect(today.outdated == [.steps])
        #expect(today.changed == [.steps])
        var fresh = today.tally(of: .steps)
        _ = fresh.add(Fixture.stored(Fixture.steps(80, at: 0)))
        today.replace(.steps, with: fresh)
        #expect(today.outdated.isEmpty)
        #expect(today.summary(of: .steps).count == 1)
    }

    @Test
    func `zones make the metric be read again where a heart rate is late, a workout came, or the maximum changed`() {
        for maximum in [200.0, nil] {
            var today = RunningDay(day: day, exerciseMaximum: maximum)
            for minute in [0, 2, 3] { today.add(Fixture.new(Fixture.heartRate(130, at: minute))) }
            #expect(today.outdated.isEmpty)
            #expect(today.summary(of: .heartRate).zones?.minutes == maximum.map { _ in [0, 3, 0, 0, 0] })
            today.add(Fixture.new(Fixture.heartRate(130, at: 1)))
            #expect(today.outdated == (maximum == nil ? [] : [.heartRate]))
            today.add(Fixture.new(Fixture.workout(at: 0, lasting: 3)))
            #expect(today.outdated == (maximum == nil ? [] : [.heartRate, .sport]))
            today.begin(day.advanced(by: 1))
            #expect(today.exerciseMaximum == maximum)
            today.add(Fixture.new(Fixture.heartRate(130, at: 1_440)))
            today.follow(exerciseMaximum: maximum)
            #expect(today.outdated.isEmpty)
            today.follow(exerciseMaximum: 180)
            #expect(today.outdated == [.heartRate])
        }
    }

    @Test func `a new day begins at zero and is published`() {
        var today = RunningDay(day: day)
        today.add(Fixture.new(Fixture.steps(100, at: 0)))
        today.published()
        today.begin(day.advanced(by: 1), outdated: [.heartRate])
        #expect(today.day == day.advanced(by: 1))
        #expect(today.changed == [.steps])
        #expect(today.outdated == [.heartRate])
        #expect(today.summary(of: .steps).count == 0)
        #expect(today.metrics.isEmpty)
    }

    @Test func `a metric that ever had samples is published each day`() {
        var today = RunningDay(day: day)
        today.announce([.sport])
        #expect(today.changed == [.sport])
        today.add(Fixture.new(Fixture.steps(100, at: 0)))
        for next in 1...3 {
            today.published()
            today.begin(day.advanced(by: next))
            #expect(today.changed == [.sport, .steps])
        }
    }

    @Test func `a metric without samples has an empty summary`() {
        #expect(RunningDay(day: day).summary(of: .sleep).count == 0)
    }
}
