import Vitals

/// A person's intentions for a date, in minutes of the wall clock: the way to work and back, a walk at noon, errands,
/// and on some days a workout.
struct DayPlan {
    /// A walk or workout intended to begin at a minute of the day.
    private struct Intention {
        var kind: Activity.Kind
        var minute: Int
        var length: Int
    }

    /// The last minute of the day at which an activity may end, 19:40: the evening after it is quiet, and devices are
    /// charged.
    static let lastMinute = 1180
    /// Minutes between getting up and the first activity, and between two activities.
    private static let (breakfast, rest) = (25, 4)

    private let person: Person
    private let day: LocalDay
    private var intentions: [Intention] = []

    /// The plan for a date.
    init(_ person: Person, on day: LocalDay) {
        self.person = person
        self.day = day
        let (noise, key) = (person.noise, Int64(day.number))
        if !day.isWeekend {
            let length = noise.integer(.commute, in: 10...20)
            let minute = person.wakeMinute + noise.integer(.commute, key, in: 55...80)
            intentions.append(Intention(kind: .stroll, minute: minute, length: length))
            intentions.append(Intention(kind: .stroll, minute: minute + 9 * 60, length: length))
        }
        if noise.happens(.lunchWalk, key, probability: 0.8) {
            let minute = noise.integer(.lunchWalk, ~key, in: 725...775)
            let length = noise.integer(.lunchWalk, key &* 3 &+ 1, in: 8...(day.isWeekend ? 40 : 20))
            intentions.append(Intention(kind: .stroll, minute: minute, length: length))
        }
        if noise.happens(.errand, key, probability: 0.7) {
            let minute = noise.integer(.errand, ~key, in: (day.isWeekend ? 600 : 1090)...1125)
            intentions.append(
                Intention(
                    kind: .stroll, minute: minute, length: noise.integer(.errand, key &* 3 &+ 1, in: 8...30)))
        }
        if noise.happens(.workoutOfDay, key, probability: person.workoutProbability) {
            intentions.append(workout())
        }
        intentions.sort { ($0.minute, $0.length) < ($1.minute, $1.length) }
    }

    private func workout() -> Intention {
        let (noise, key) = (person.noise, Int64(day.number))
        let kinds: [Activity.Kind] =
            day.isWeekend
            ? [.running, .cycling, .walking, .walking] : [.running, .running, .cycling, .strength, .strength]
        let kind = kinds[noise.integer(.workoutKind, key, in: 0...kinds.count - 1)]
        let minute = noise.integer(.workoutTime, key, in: day.isWeekend ? 590...680 : 1040...1075)
        let length = noise.integer(.workoutLength, key, in: day.isWeekend ? 35...95 : 30...65)
        return Intention(kind: kind, minute: minute, length: length)
    }

    /// Carries out the plan: one activity after another, and only while the person is up.
    func activities(in calendar: LocalCalendar, from wake: Timestamp, to bedtime: Timestamp) -> [Activity] {
        let noise = person.noise
        let limit = min(calendar.moment(on: day, minute: Self.lastMinute), bedtime)
        var earliest = wake + .minutes(Self.breakfast)
        var result: [Activity] = []
        for intention in intentions {
            let start = max(earliest, calendar.moment(on: day, minute: intention.minute))
            let end = start + .minutes(intention.length)
            guard end <= limit else { continue }
            let key = start.milliseconds
            result.append(
                Activity(
                    kind: intention.kind, start: start, end: end,
                    effort: noise.number(.effort, key, in: intention.kind.efforts),
                    cadence: noise.number(.cadence, key, in: intention.kind.cadences)))
            earliest = end + .minutes(Self.rest)
        }
        return result
    }
}
