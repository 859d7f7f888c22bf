import Testing
import Vitals

@Suite struct LocalDayTests {
    @Test(arguments: [
        ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2000-03-01", 11_017), ("2026-11-21", 20_778),
        ("0000-01-01", -719_528), ("0000-03-01", -719_468), ("9999-12-31", 2_932_896),
    ])
    func `is a number of days`(text: String, number: Int) {
        #expect(LocalDay(text)?.number == number)
        #expect(LocalDay(number: number).description == text)
        var bytes: [UInt8] = []
        LocalDay(number: number).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        "", "2026-11-2", "2026-11-211", "26-11-21", "2026/11/21", "2026-1-21", " 2026-11-21", "2026-11-21 ",
        "2026-02-29", "1900-02-29", "2026-04-31", "2026-00-10", "2026-13-10", "2026-10-00", "-026-10-10", "20261121",
    ])
    func `is read only from a date that exists`(text: String) {
        #expect(LocalDay(text) == nil)
    }

    @Test func `counts every date of four centuries once`() {
        var number = LocalDay(year: 1600, month: 1, day: 1)?.number ?? 0
        for year in 1600..<2000 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let date = LocalDay(year: year, month: month, day: day) else { continue }
                    #expect(date.number == number)
                    #expect(LocalDay(date.description) == date)
                    number += 1
                }
            }
        }
        #expect(LocalDay(year: 2000, month: 1, day: 1)?.number == number)
    }

    @Test func `has a text within four-digit years only`() {
        #expect(LocalDay(year: -1, month: 1, day: 1) == nil)
        #expect(LocalDay(year: 10_000, month: 1, day: 1) == nil)
        #expect(LocalDay(number: .max).description == "9999-12-31")
        #expect(LocalDay(number: .min).description == "0000-01-01")
    }
}
