import Testing
import Vitals

@testable import Simulator

@Suite struct PhysiologyTests {
    @Test func `a moment gives the same values, whatever was asked before`() throws {
        let moments = (0..<500).map { Setup.noon + .minutes($0 * 37) }
        var forward = try body(7)
        let first = moments.map { forward.profile(at: $0).values(at: $0) }
        var backward = try body(7)
        let second = moments.reversed().map { backward.profile(at: $0).values(at: $0) }
        #expect(first == second.reversed())
    }

    @Test func `two seeds are two people`() throws {
        var (one, two) = (try body(1), try body(2))
        let differing = (0..<100).count { minute in
            let moment = Setup.noon + .minutes(minute * 11)
            return one.profile(at: moment).heartRate(at: moment) != two.profile(at: moment).heartRate(at: moment)
        }
        #expect(differing > 60)
        let people = (0..<400 as Range<UInt64>).map { Person(seed: $0) }
        let rates = people.map(\.restingHeartRate)
        #expect((56...58).contains(rates.reduce(0, +) / 400))
        #expect(try #require(rates.min()) < 49)
        #expect(try #require(rates.max()) > 65)
        #expect(Person(seed: 1, slot: 1) == Person(seed: 1))
        #expect(Person(seed: 1, slot: 2) != Person(seed: 1))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `values are those of a healthy person, and lower in sleep`(seed: UInt64) throws {
        var body = try body(seed)
        let monday = 20_465
        var (asleep, awake): ([Values], [Values]) = ([], [])
        for day in monday..<monday + 7 {
            let profile = body.profile(of: LocalDay(number: day))
            for moment in profile.everyFiveMinutes {
                let values = profile.values(at: moment)
                #expect((40...200).contains(values.heartRate))
                #expect((85...100).contains(values.oxygen))
                #expect((1...99).contains(values.stress))
                #expect((35.5...38.6).contains(values.temperature))
                #expect((85...200).contains(values.pressure.systolic))
                #expect((45...110).contains(values.pressure.diastolic))
                #expect(values.pressure.systolic - values.pressure.diastolic >= 20)
                #expect((6...110).contains(values.variability))
                #expect((9...48).contains(values.breaths))
                #expect((27...36.5).contains(values.skinTemperature))
                #expect((60...180).contains(values.glucose))
                if profile.sleepiness(at: moment) == 1 {
                    asleep.append(values)
                } else if profile.exertion(at: moment) == 0, profile.sleepiness(at: moment) == 0 {
                    awake.append(values)
                }
            }
        }
        #expect(mean(asleep, \.heartRate) < mean(awake, \.heartRate) - 7)
        #expect(mean(asleep, \.oxygen) < mean(awake, \.oxygen))
        #expect(mean(asleep, \.stress) < mean(awake, \.stress) - 8)
        #expect(mean(asleep, \.temperature) < mean(awake, \.temperature) - 0.1)
        #expect(mean(asleep, \.pressure.systolic) < mean(awake, \.pressure.systolic) - 8)
        #expect((60...92).contains(mean(awake, \.heartRate)))
        #expect(mean(asleep, \.variability) > mean(awake, \.variability) + 3)
        #expect(mean(asleep, \.breaths) < mean(awake, \.breaths) - 1)
        #expect(mean(asleep, \.skinTemperature) > mean(awake, \.skinTemperature) + 2)
        #expect(mean(asleep, \.glucose) < mean(awake, \.glucose))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `glucose rises after each meal, and is back within three hours`(seed: UInt64) throws {
        var body = try body(seed)
        for day in 20_465..<20_470 {
            let profile = body.profile(of: LocalDay(number: day))
            for minute in [800, 1180] {
                let meal = profile.evening(minute - 65)
                let before = profile.glucose(at: meal - .minutes(5))
                let peak = (0...24).map { profile.glucose(at: meal + .minutes($0 * 5)) }.max() ?? 0
                #expect(peak > before + 8)
                let after = profile.glucose(at: meal + .hours(4))
                #expect(abs(after - body.person.glucose) < 25)
            }
        }
    }

    @Test func `weight changes by little from day to day, in steps of 50 grams`() throws {
        var body = try body(11)
        var before: Double?
        for day in 20_465..<20_565 {
            let profile = body.profile(of: LocalDay(number: day))
            let weight = profile.weight(at: profile.night.end + .minutes(5))
            #expect(abs((weight * 20).rounded() - weight * 20) < 1e-6)
            #expect(abs(weight - body.person.weight) < 2.5)
            if let before { #expect(abs(weight - before) < 1.3) }
            before = weight
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the resting heart rate agrees with the lows of the night`(seed: UInt64) throws {
        var body = try body(seed)
        for day in 20_465..<20_479 {
            let profile = body.profile(of: LocalDay(number: day))
            let rates = profile.everyFiveMinutes.filter { profile.night.contains($0) }.map { profile.heartRate(at: $0) }
            let lowest = try #require(rates.min())
            #expect((lowest...lowest + 5).contains(profile.restingHeartRate))
            #expect(abs(profile.restingHeartRate - body.person.restingHeartRate) <= 6)
        }
    }

    @Test func `neighbouring days agree on the night between them`() throws {
        var body = try body(3)
        for day in 20_465..<20_500 {
            let (today, tomorrow) = (
                body.profile(of: LocalDay(number: day)), body.profile(of: LocalDay(number: day + 1))
            )
            #expect(today.nextNight == tomorrow.night)
            for minute in stride(from: 0, to: 600, by: 7) {
                let moment = tomorrow.night.start + .minutes(minute)
                guard tomorrow.night.contains(moment) else { break }
                #expect(today.oxygen(at: moment) == tomorrow.oxygen(at: moment))
            }
        }
    }

    @Test func `the heart does not jump from one second to the next`() throws {
        var body = try body(5)
        var before: Double?
        for second in 0..<2 * 86_400 {
            let moment = Setup.noon + .seconds(second)
            let rate = body.profile(at: moment).heartRate(at: moment)
            if let before { #expect(abs(rate - before) <= 3) }
            before = rate
        }
    }

    private func body(_ seed: UInt64) throws -> Physiology {
        Physiology(Person(seed: seed), in: try #require(LocalCalendar(identifier: "Europe/Berlin")))
    }

    private func mean(_ values: [Values], _ path: KeyPath<Values, Double>) -> Double {
        values.map { $0[keyPath: path] }.reduce(0, +) / Double(values.count)
    }
}

/// All values of a moment.
struct Values: Equatable {
    var heartRate, oxygen, stress, temperature: Double
    var variability, breaths, skinTemperature, glucose: Double
    var pressure: BloodPressure
}

extension DailyProfile {
    func values(at moment: Timestamp) -> Values {
        Values(
            heartRate: heartRate(at: moment), oxygen: oxygen(at: moment), stress: stress(at: moment),
            temperature: temperature(at: moment), variability: variability(at: moment), breaths: breaths(at: moment),
            skinTemperature: skinTemperature(at: moment), glucose: glucose(at: moment),
            pressure: pressure(at: moment, withPulse: true))
    }

    var everyFiveMinutes: [Timestamp] {
        stride(from: bounds.lowerBound.milliseconds, to: bounds.upperBound.milliseconds, by: 300_000).map {
            Timestamp(milliseconds: $0)
        }
    }
}
