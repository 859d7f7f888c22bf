import GatewayKit
import Vitals

/// A date and a time of day without a zone: what a cuff or a meter shows (GATT Specification Supplement, Date Time, 0x2A08; 7 bytes).
struct DateTime: Sendable, Hashable {
    /// 1582–9999; 0 if unknown.
    var year: Int
    /// 1–12; 0 if unknown.
    var month: Int
    /// 1–31; 0 if unknown.
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    /// Before this year no such device existed: an older time is that of a clock that was never set.
    static let firstYear = 2010

    init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    init(from reader: inout FieldReader) throws(FormatError) {
        year = Int(try reader.uint16())
        month = Int(try reader.uint8())
        day = Int(try reader.uint8())
        hour = Int(try reader.uint8())
        minute = Int(try reader.uint8())
        second = Int(try reader.uint8())
    }

    /// What a clock shows that is `offset` minutes ahead of UTC.
    init(_ moment: Timestamp, offset minutes: Int) {
        let second = Int(max(0, (moment + .minutes(minutes)).milliseconds) / 1000)
        let text = LocalDay(number: second / 86_400).description.split(separator: "-").compactMap { Int($0) }
        let inDay = second % 86_400
        self.init(
            year: text.count == 3 ? text[0] : 0, month: text.count == 3 ? text[1] : 0,
            day: text.count == 3 ? text[2] : 0,
            hour: inDay / 3600, minute: inDay / 60 % 60, second: inDay % 60)
    }

    /// The seven bytes.
    var bytes: [UInt8] {
        [UInt8(year & 0xff), UInt8(year >> 8 & 0xff)] + [month, day, hour, minute, second].map { UInt8($0 & 0xff) }
    }

    /// The date; `nil` if it is unknown, does not exist, or is that of a clock that was never set.
    var localDay: LocalDay? {
        guard year >= Self.firstYear, year <= 9999 else { return nil }
        return LocalDay(year: year, month: month, day: day)
    }

    /// The moment at which clocks in this calendar's zone first show it; `nil` without a possible date and time.
    func moment(in calendar: LocalCalendar) -> Timestamp? {
        guard let day = localDay, hour < 24, minute < 60, second < 60 else { return nil }
        return calendar.moment(on: day, minute: hour * 60 + minute) + .seconds(second)
    }

    /// The moment at which a clock that is `offset` minutes ahead of UTC shows it; `nil` without a possible date and time.
    func moment(offset minutes: Int) -> Timestamp? {
        guard let day = localDay, hour < 24, minute < 60, second < 60 else { return nil }
        let seconds = Int64(day.number) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        return Timestamp(seconds: seconds) - .minutes(minutes)
    }
}
