/// Year, month and day of the proleptic Gregorian calendar.
///
/// Years are counted from 1 March, so that the leap day is a year's last: the lengths of the months before it then
/// repeat 31, 30, 31, 30, 31, which is 153 days in five months.
struct CivilDate: Equatable {
    var year: Int
    var month: Int
    var day: Int

    /// Years with four digits, which have a text in RFC 3339.
    static let years = 0...9_999

    private static let daysPerEra = 146_097  // 400 years, after which the calendar repeats
    private static let daysPerCentury = 36_524  // without the leap day that ends every fourth
    private static let daysPerFourYears = 1_461
    private static let daysFromMarchOfYearZero = 719_468  // from 0000-03-01 to 1970-01-01

    /// The date with this year, month and day; `nil` if it does not exist or the year has not four digits.
    init?(year: Int, month: Int, day: Int) {
        guard Self.years.contains(year), (1...12).contains(month),
            day >= 1, day <= Self.length(ofMonth: month, year: year)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The date this many days after 1970-01-01.
    init(dayNumber: Int) {
        let (era, dayOfEra) = (dayNumber + Self.daysFromMarchOfYearZero).flooredQuotient(by: Self.daysPerEra)
        // The last day of an era, and of four years, belongs to the year before: it is a leap day.
        let century = min(dayOfEra / Self.daysPerCentury, 3)
        let dayOfCentury = dayOfEra - century * Self.daysPerCentury
        let olympiad = dayOfCentury / Self.daysPerFourYears
        let dayOfOlympiad = dayOfCentury - olympiad * Self.daysPerFourYears
        let yearOfOlympiad = min(dayOfOlympiad / 365, 3)
        let dayOfYear = dayOfOlympiad - yearOfOlympiad * 365
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        day = dayOfYear - Self.daysBefore(monthFromMarch: monthFromMarch) + 1
        year = era * 400 + century * 100 + olympiad * 4 + yearOfOlympiad + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01.
    var dayNumber: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredQuotient(by: 400)
        let monthFromMarch = month <= 2 ? month + 9 : month - 3
        let dayOfEra =
            yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + Self.daysBefore(monthFromMarch: monthFromMarch) + day
            - 1
        return era * Self.daysPerEra + dayOfEra - Self.daysFromMarchOfYearZero
    }

    private static func daysBefore(monthFromMarch: Int) -> Int { (153 * monthFromMarch + 2) / 5 }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension BinaryInteger {
    /// The quotient rounded down, and the non-negative remainder, of a division by a positive number.
    func flooredQuotient(by divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
