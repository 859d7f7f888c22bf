import Vitals

/// A date and a time of day without a zone: what the ring shows to the person who wears it.
struct LocalTime: Sendable, Hashable {
    let day: LocalDay
    /// Seconds from midnight.
    let second: Int

    /// Before this year no such ring existed: an older time is that of a clock that was never set.
    static let firstYear = 2010

    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard year >= Self.firstYear, year <= 9999, let date = LocalDay(year: year, month: month, day: day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
        else { return nil }
        self.day = date
        self.second = hour * 3600 + minute * 60 + second
    }

    /// Reads fourteen digits from the year to the second, such as a file's name.
    init?(digits: String) {
        let numbers = digits.compactMap { $0.isASCII ? $0.wholeNumberValue : nil }
        guard numbers.count == 14, digits.count == 14 else { return nil }
        func number(_ range: Range<Int>) -> Int { numbers[range].reduce(0) { $0 * 10 + $1 } }
        self.init(
            year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10),
            minute: number(10..<12), second: number(12..<14))
    }

    /// The moment at which clocks in this calendar's zone first show it.
    func moment(in calendar: LocalCalendar) -> Timestamp {
        calendar.moment(on: day, minute: second / 60) + .seconds(second % 60)
    }

    /// The time of a clock that is `offset` minutes ahead of UTC, in the form of the ring's settings.
    static func text(_ moment: Timestamp, offset minutes: Int) -> String {
        let local = max(0, (moment + .minutes(minutes)).milliseconds / 1000)
        let inDay = Int(local % 86_400)
        let parts = [inDay / 3600, inDay / 60 % 60, inDay % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(LocalDay(number: Int(local / 86_400))),\(parts.joined(separator: ":"))"
    }
}
