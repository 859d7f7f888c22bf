import GatewayKit
import Vitals

/// The zone in which a ring's clock runs: a constant offset from UTC, so that no hour is skipped and none comes twice.
///
/// The ring knows days and minutes of days, and no zone. What they mean depends on how its clock was set.
struct RingZone: Sendable, Hashable {
    /// The possible offsets in minutes.
    static let offsets = -720...840
    /// The years whose last two digits the ring's clock can show.
    static let years = 2000...2099

    /// Minutes that the ring's clock is ahead of UTC.
    let offset: Int

    /// The ring's date at a moment.
    func day(of moment: Timestamp) -> LocalDay { period.day(of: moment) }

    /// The moment at which the ring's clock shows a minute of a day; minutes may lie outside of the day.
    func moment(_ day: LocalDay, minute: Int) -> Timestamp {
        Timestamp(seconds: Int64(day.number) * 86_400 + Int64(minute - offset) * 60)
    }

    /// What the ring's clock shows: year, month, day, hour, minute and second, each as two decimal digits in a byte.
    func digits(of moment: Timestamp) throws(FormatError) -> [UInt8] {
        let day = day(of: moment)
        let date = day.description.split(separator: "-").compactMap { Int($0) }
        guard date.count == 3, Self.years.contains(date[0]) else {
            throw FormatError("the ring's clock shows no year before 2000 or after 2099")
        }
        let second = Int((moment - self.moment(day, minute: 0)).inMilliseconds / 1000)
        return [date[0] - 2000, date[1], date[2], second / 3600, second / 60 % 60, second % 60].map {
            UInt8($0 / 10 * 16 + $0 % 10)
        }
    }

    /// The date with these pairs of digits; `nil` if it does not exist.
    static func day(digits: [UInt8]) -> LocalDay? {
        let numbers = digits.compactMap { $0 >> 4 < 10 && $0 & 15 < 10 ? Int($0 >> 4) * 10 + Int($0 & 15) : nil }
        guard digits.count == 3, numbers.count == 3 else { return nil }
        return LocalDay(year: 2000 + numbers[0], month: numbers[1], day: numbers[2])
    }

    private var period: OffsetPeriod {
        OffsetPeriod(seconds: offset * 60, range: Timestamp(milliseconds: .min)..<Timestamp(milliseconds: .max))
    }
}
