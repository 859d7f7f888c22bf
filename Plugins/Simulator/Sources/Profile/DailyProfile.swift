import Vitals

/// One person's local day: the nights around it and the activities between them. It is a pure function of person, date
/// and time zone, and all measurements of a device follow from it.
struct DailyProfile: Sendable {
    let person: Person
    let day: LocalDay
    /// The range of the day: 23, 24 or 25 hours.
    let bounds: Range<Timestamp>
    /// The sleep that ends on this day.
    let night: Night
    /// The sleep that ends on the next day. It may begin on this one.
    let nextNight: Night
    /// Walks and workouts, ascending, not overlapping each other or any sleep.
    let activities: [Activity]
    /// A nap after lunch, if any.
    let nap: Night?
    private let offset: OffsetPeriod
    /// The offset after a clock change on this day. No zone has two on one day.
    private let laterOffset: OffsetPeriod?

    /// The daily profile of a person in a time zone.
    init(_ person: Person, on day: LocalDay, in calendar: LocalCalendar) {
        self.person = person
        self.day = day
        let bounds = calendar.bounds(of: day)
        self.bounds = bounds
        night = Self.night(of: person, endingOn: day, in: calendar)
        nextNight = Self.night(of: person, endingOn: day.advanced(by: 1), in: calendar)
        activities = DayPlan(person, on: day).activities(in: calendar, from: night.end, to: nextNight.start)
        nap = Self.nap(of: person, on: day, in: calendar, apartFrom: activities)
        let offset = calendar.offset(at: bounds.lowerBound)
        self.offset = offset
        // A period may end without a change of the offset.
        var last = offset
        while last.range.upperBound < bounds.upperBound, last.seconds == offset.seconds {
            last = calendar.offset(at: last.range.upperBound)
        }
        laterOffset = last.seconds == offset.seconds ? nil : last
    }

    /// Minutes from midnight on the wall clock, at a moment of this day or of the night before it.
    func minuteOfDay(_ moment: Timestamp) -> Int {
        if let laterOffset, moment >= laterOffset.range.lowerBound { return laterOffset.minuteOfDay(moment) }
        return offset.minuteOfDay(moment)
    }

    /// The moment of a minute in this day's evening, when no zone changes its clocks.
    func evening(_ minute: Int) -> Timestamp {
        let seconds = Int64(day.number) * 86_400 + Int64(minute * 60 - (laterOffset ?? offset).seconds)
        return Timestamp(seconds: seconds)
    }

    /// Whether the person is in bed.
    func isAsleep(_ moment: Timestamp) -> Bool { sleep(at: moment).contains(moment) }

    /// The sleep for a moment: the last one that has begun, or the night if none has.
    func sleep(at moment: Timestamp) -> Night {
        if nextNight.start <= moment { return nextNight }
        if let nap, nap.start <= moment { return nap }
        return night
    }

    /// The workout in progress at a moment.
    func workout(at moment: Timestamp) -> Activity? {
        activities.first { $0.isWorkout && $0.start <= moment && moment < $0.end }
    }

    /// A nap after lunch, on some days off and occasionally on a working day, if no activity is near: twenty minutes,
    /// or on a day off up to a whole sleep cycle.
    private static func nap(
        of person: Person, on day: LocalDay, in calendar: LocalCalendar, apartFrom activities: [Activity]
    ) -> Night? {
        let (noise, key) = (person.noise, Int64(day.number))
        let probability = person.napProbability * (day.isWeekend ? 1 : 0.3)
        guard noise.happens(.nap, key, probability: probability) else { return nil }
        let start = calendar.moment(on: day, minute: noise.integer(.napTime, key, in: 790...900))
        let end = start + .minutes(noise.integer(.napLength, key, in: 20...(day.isWeekend ? 95 : 40)))
        let isFree = activities.allSatisfy { $0.end + .minutes(10) <= start || end + .minutes(10) <= $0.start }
        return isFree ? Night(from: start, to: end, day: day, noise: noise) : nil
    }

    /// The night that ends in the morning of `day`, later on days off. It begins late in the evening before or shortly
    /// after midnight.
    private static func night(of person: Person, endingOn day: LocalDay, in calendar: LocalCalendar) -> Night {
        let (noise, key) = (person.noise, Int64(day.number))
        let wake =
            person.wakeMinute + (day.isWeekend ? 55 : 0) + noise.integer(.wakeOfDay, key, in: -18...25)
        let length = person.sleepMinutes + noise.integer(.sleepOfDay, key, in: -40...40)
        let bedtime = wake - length
        let start =
            bedtime < 0
            ? calendar.moment(on: day.advanced(by: -1), minute: 1440 + bedtime)
            : calendar.moment(on: day, minute: bedtime)
        return Night(from: start, to: calendar.moment(on: day, minute: wake), day: day, noise: noise)
    }
}

extension LocalDay {
    /// Whether it is a Saturday or a Sunday. (1970-01-01 was a Thursday.)
    var isWeekend: Bool { Int64(number + 3) - Int64(number + 3).floored(by: 7) * 7 >= 5 }
}

/// One person's body over all time, in one time zone: finds the daily profile for a moment.
///
/// It caches the profiles of the last few days used, so that neighbouring samples cost only their own arithmetic. It
/// stores nothing else: a month of history is computed.
struct Physiology: Sendable {
    let person: Person
    /// The time zone.
    let calendar: LocalCalendar
    private var recent: [DailyProfile] = []

    /// The number of cached profiles: yesterday, today and tomorrow.
    private static let capacity = 3

    /// The body of a person who lives in a calendar's time zone.
    init(_ person: Person, in calendar: LocalCalendar) {
        self.person = person
        self.calendar = calendar
    }

    /// The daily profile that contains a moment.
    mutating func profile(at moment: Timestamp) -> DailyProfile {
        recent.first { $0.bounds.contains(moment) } ?? profile(of: calendar.day(of: moment))
    }

    /// The profile of a day.
    mutating func profile(of day: LocalDay) -> DailyProfile {
        if let known = recent.first(where: { $0.day == day }) { return known }
        let profile = DailyProfile(person, on: day, in: calendar)
        if recent.count == Self.capacity { recent.removeFirst() }
        recent.append(profile)
        return profile
    }
}
