import Testing
import Vitals

@testable import Simulator

@Suite struct DailyProfileTests {
    @Test(arguments: [
        "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu", "UTC",
    ])
    func `every day of a year is in order, with the days on which clocks are turned`(zone: String) throws {
        let calendar = try #require(LocalCalendar(identifier: zone))
        var body = Physiology(Person(seed: 11), in: calendar)
        for number in 20_454..<20_819 {
            let profile = body.profile(of: LocalDay(number: number))
            #expect(profile.bounds == calendar.bounds(of: profile.day))
            checkNight(profile)
            var previous = profile.night.end
            for activity in profile.activities {
                #expect(previous < activity.start)
                #expect(activity.start < activity.end)
                previous = activity.end
            }
            #expect(previous < profile.nextNight.start)
            if let nap = profile.nap {
                #expect(profile.night.end < nap.start && nap.end < profile.nextNight.start)
                #expect(profile.activities.allSatisfy { $0.end < nap.start || nap.end < $0.start })
            }
            let wakeMinute = calendar.minuteOfDay(profile.night.end)
            #expect((330...560).contains(wakeMinute), "wakes at \(wakeMinute) on \(profile.day)")
            for moment in profile.everyFiveMinutes {
                #expect(profile.minuteOfDay(moment) == calendar.minuteOfDay(moment))
            }
        }
    }

    private func checkNight(_ profile: DailyProfile) {
        let night = profile.night
        #expect((330...580).contains((night.end - night.start).inMinutes))
        #expect(night.stages.first?.start == night.start)
        #expect(night.stages.last?.end == night.end)
        for (stage, next) in zip(night.stages, night.stages.dropFirst()) {
            #expect(stage.end == next.start)
            #expect(stage.depth != next.depth)
        }
        let sleep = Sleep(stages: night.stages)
        let length = Int((night.end - night.start).inMinutes)
        #expect(sleep.minutes(.deep) > length / 10)
        #expect(sleep.minutes(.rem) > length / 10)
        #expect(sleep.minutes(.light) > length / 3)
        #expect(sleep.minutes(.awake) < length / 8)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `workouts come some days a week and raise heart rate and steps`(seed: UInt64) throws {
        var body = Physiology(Person(seed: seed), in: try #require(LocalCalendar(identifier: "Europe/Berlin")))
        var workouts = 0
        for number in 20_454..<20_454 + 84 {
            let profile = body.profile(of: LocalDay(number: number))
            for workout in profile.activities where workout.isWorkout {
                workouts += 1
                let sport = profile.sport(workout)
                let before = profile.heartRate(at: workout.start - .minutes(21))
                let average = try #require(sport.averageHeartRate)
                let highest = try #require(sport.maximumHeartRate)
                #expect(average > before + 8)
                #expect(highest <= body.person.maximumHeartRate)
                if workout.kind == .running { #expect(average > 110) }
                #expect(profile.workout(at: workout.start) == workout)
                #expect(profile.workout(at: workout.end) != workout)
                checkSteps(profile, workout, sport)
            }
        }
        #expect((12...66).contains(workouts))
    }

    private func checkSteps(_ profile: DailyProfile, _ workout: Activity, _ sport: Sport) {
        let quarter = Int64(900_000)
        let first = workout.start.milliseconds.floored(by: quarter) * quarter
        let buckets = stride(from: first, to: workout.end.milliseconds, by: Int(quarter)).map {
            profile.steps(from: Timestamp(milliseconds: $0), to: Timestamp(milliseconds: $0 + quarter))
        }
        #expect(buckets.map(\.count).reduce(0, +) >= sport.steps ?? 0)
        let inner = profile.steps(from: workout.start, to: workout.end).count
        #expect(inner >= workout.steps)
        #expect(Double(inner - workout.steps) <= 4 * (workout.end - workout.start).inMinutes)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `a nap is short, calms the heart, and nobody walks in it`(seed: UInt64) throws {
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        var body = Physiology(Person(seed: seed), in: calendar)
        var naps = 0
        for number in 20_454..<20_454 + 364 {
            let profile = body.profile(of: LocalDay(number: number))
            guard let nap = profile.nap else { continue }
            naps += 1
            #expect((780...1020).contains(calendar.minuteOfDay(nap.start)))
            #expect((20...95).contains((nap.end - nap.start).inMinutes))
            #expect(nap.stages.first?.start == nap.start && nap.stages.last?.end == nap.end)
            #expect(profile.isAsleep(nap.start) && !profile.isAsleep(nap.end))
            #expect(profile.steps(from: nap.start, to: nap.end).count == 0)
            func mean(_ moments: [Timestamp]) -> Double {
                moments.map { profile.heartRate(at: $0) }.reduce(0, +) / Double(moments.count)
            }
            // Compares sound sleep with the two quiet hours after it.
            let asleep = stride(from: 15, to: Int((nap.end - nap.start).inMinutes), by: 1).map {
                nap.start + .minutes($0)
            }
            let awake = stride(from: 6, to: 120, by: 1).map { nap.end + .minutes($0) }.filter {
                profile.exertion(at: $0) == 0
            }
            if awake.count > 30 { #expect(mean(asleep) < mean(awake) - 4, "\(profile.day)") }
        }
        #expect(naps <= 120)
        #expect(body.person.napProbability < 0.1 || naps > 3)
    }

    @Test func `a workout's heart rates are those of the heart`() throws {
        var body = Physiology(Person(seed: 4), in: try #require(LocalCalendar(identifier: "Europe/Berlin")))
        var found = 0
        for number in 20_454..<20_482 {
            let profile = body.profile(of: LocalDay(number: number))
            for workout in profile.activities where workout.isWorkout {
                found += 1
                let seconds = Int((workout.end - workout.start).inMilliseconds / 1000)
                let rates = stride(from: 0, through: seconds, by: 5).map {
                    profile.heartRate(at: workout.start + .seconds($0))
                }
                let sport = profile.sport(workout)
                #expect(sport.minimumHeartRate == rates.min())
                #expect(sport.maximumHeartRate == rates.max())
                #expect(sport.averageHeartRate == (rates.reduce(0, +) / Double(rates.count)).rounded())
            }
        }
        #expect(found > 3)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a day has a believable number of steps`(seed: UInt64) throws {
        var body = Physiology(Person(seed: seed), in: try #require(LocalCalendar(identifier: "Europe/Berlin")))
        var total = 0
        for number in 20_454..<20_482 {
            let profile = body.profile(of: LocalDay(number: number))
            var steps = 0
            var start = profile.bounds.lowerBound
            while start < profile.bounds.upperBound {
                let bucket = profile.steps(from: start, to: start + .minutes(15))
                if profile.isAsleep(start), profile.isAsleep(start + .minutes(15)) { #expect(bucket.count == 0) }
                #expect(bucket.count <= 2_800)
                steps += bucket.count
                start = start + .minutes(15)
            }
            #expect((1_000...26_000).contains(steps))
            total += steps
        }
        #expect((4_000...14_000).contains(total / 28))
    }
}
