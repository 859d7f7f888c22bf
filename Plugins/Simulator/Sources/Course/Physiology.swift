import Vitals

/// One person's body over all time, in one time zone: finds the course of the day that a moment belongs to.
///
/// It keeps the courses of the last few days that were asked for, so that samples which are close together cost no more
/// than their own arithmetic, and holds nothing else: a month of history is computed, not stored.
struct Physiology: Sendable {
    /// Whose body.
    let person: Person
    /// The time zone.
    let calendar: LocalCalendar
    private var recent: [DayCourse] = []

    /// Courses to keep: yesterday, today and tomorrow.
    private static let capacity = 3

    /// The body of a person who lives by a calendar.
    init(_ person: Person, in calendar: LocalCalendar) {
        self.person = person
        self.calendar = calendar
    }

    /// The course of the day that contains a moment.
    mutating func course(at moment: Timestamp) -> DayCourse {
        recent.first { $0.bounds.contains(moment) } ?? course(of: calendar.day(of: moment))
    }

    /// The course of a day.
    mutating func course(of day: LocalDay) -> DayCourse {
        if let known = recent.first(where: { $0.day == day }) { return known }
        let course = DayCourse(person, on: day, in: calendar)
        if recent.count == Self.capacity { recent.removeFirst() }
        recent.append(course)
        return course
    }
}
