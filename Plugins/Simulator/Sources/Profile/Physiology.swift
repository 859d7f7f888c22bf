import Vitals

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
