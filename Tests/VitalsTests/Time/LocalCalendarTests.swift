import Foundation
import Testing
import Vitals

@Suite struct LocalCalendarTests {
    /// Time zones, each with the noon (UTC) of a day with a clock change, or close to one.
    static let turns: [(zone: String, noon: String)] = [
        ("Europe/Berlin", "2026-03-29"), ("Europe/Berlin", "2026-10-25"), ("America/New_York", "2026-03-08"),
        ("America/New_York", "2026-11-01"), ("Australia/Lord_Howe", "2026-04-05"),
        ("Australia/Lord_Howe", "2026-10-04"), ("Asia/Kathmandu", "2026-06-01"), ("UTC", "2026-06-01"),
        ("America/Sao_Paulo", "2018-11-04"), ("America/Sao_Paulo", "2018-02-17"), ("Asia/Beirut", "2022-03-27"),
        ("Asia/Beirut", "2022-10-29"), ("Pacific/Kiritimati", "2026-01-01"), ("America/Nuuk", "2026-10-24"),
        ("America/Havana", "2025-11-02"),
    ]

    @Test(arguments: turns)
    func `agrees with Foundation around every turn of the clocks`(zone: String, noon: String) throws {
        let local = try #require(LocalCalendar(identifier: zone))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = local.timeZone
        var cache = OffsetCache(local)
        let middle = try moment(noon + "T12:00:00Z")
        for quarter in -300...300 {
            let now = middle + .minutes(quarter * 15)
            let date = Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
            let day = try #require(LocalDay(year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0))
            #expect(local.day(of: now) == day)
            #expect(local.minuteOfDay(now) == (parts.hour ?? 0) * 60 + (parts.minute ?? 0))
            let period = local.offset(at: now)
            #expect(period.seconds == local.timeZone.secondsFromGMT(for: date))
            #expect(period.range.contains(now))
            #expect(cache.minutes(at: now) * 60 == period.seconds)
            #expect(cache.day(of: now) == day)
            #expect(cache.minuteOfDay(now) == local.minuteOfDay(now))
            let bounds = local.bounds(of: day)
            #expect(bounds.contains(now))
            let start = calendar.startOfDay(for: date)
            #expect(bounds.lowerBound.milliseconds == Int64(start.timeIntervalSince1970 * 1000))
            #expect(bounds.upperBound == local.bounds(of: day.advanced(by: 1)).lowerBound)
        }
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-03-29", 23 * 60, "2026-03-28T23:00:00.000Z"),
        ("Europe/Berlin", "2026-10-25", 25 * 60, "2026-10-24T22:00:00.000Z"),
        ("America/New_York", "2026-03-08", 23 * 60, "2026-03-08T05:00:00.000Z"),
        ("Australia/Lord_Howe", "2026-04-05", 24 * 60 + 30, "2026-04-04T13:00:00.000Z"),
        ("Australia/Lord_Howe", "2026-10-04", 23 * 60 + 30, "2026-10-03T13:30:00.000Z"),
        ("Asia/Kathmandu", "2026-06-01", 24 * 60, "2026-05-31T18:15:00.000Z"),
        ("UTC", "2026-06-01", 24 * 60, "2026-06-01T00:00:00.000Z"),
        // The day has no midnight: clocks went from 00:00 to 01:00.
        ("America/Sao_Paulo", "2018-11-04", 23 * 60, "2018-11-04T03:00:00.000Z"),
        ("Asia/Beirut", "2022-03-27", 23 * 60, "2022-03-26T22:00:00.000Z"),
        // The hour before midnight occurs twice.
        ("Asia/Beirut", "2022-10-29", 25 * 60, "2022-10-28T21:00:00.000Z"),
        // The date does not exist.
        ("Pacific/Apia", "2011-12-30", 0, "2011-12-30T10:00:00.000Z"),
    ])
    func `knows days of any length`(zone: String, date: String, minutes: Int, start: String) throws {
        let local = try #require(LocalCalendar(identifier: zone))
        let bounds = local.bounds(of: try day(date))
        #expect(bounds.lowerBound.description == start)
        #expect(bounds.upperBound - bounds.lowerBound == .minutes(minutes))
    }

    @Test func `finds the moment of a time of day`() throws {
        let berlin = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        let spring = try day("2026-03-29")
        #expect(berlin.moment(on: spring, minute: 60).description == "2026-03-29T00:00:00.000Z")
        // 02:30 is skipped, so 03:00 counts. In autumn 02:30 occurs twice; the first counts.
        #expect(berlin.moment(on: spring, minute: 150).description == "2026-03-29T01:00:00.000Z")
        #expect(berlin.moment(on: try day("2026-10-25"), minute: 150).description == "2026-10-25T00:30:00.000Z")
        #expect(berlin.moment(on: spring, minute: 1440) == berlin.bounds(of: spring).upperBound)
    }

    @Test(arguments: ["Europe/Berlin", "America/St_Johns", "Africa/Casablanca", "Asia/Gaza", "Pacific/Apia"])
    func `has one offset in every period, for sixty years`(zone: String) throws {
        let local = try #require(LocalCalendar(identifier: zone))
        var now = try moment("1970-01-01T00:00:00Z")
        let end = try moment("2030-01-01T00:00:00Z")
        var random = SplitMix64(seed: 5)
        while now < end {
            let period = local.offset(at: now)
            #expect(period.range.contains(now))
            for _ in 0..<4 {
                let inside = Int64.random(
                    in: period.range.lowerBound.milliseconds..<period.range.upperBound.milliseconds, using: &random)
                let date = Date(timeIntervalSince1970: Double(inside / 1000))
                #expect(local.timeZone.secondsFromGMT(for: date) == period.seconds)
            }
            now = period.range.upperBound
        }
    }

    @Test func `takes moments far outside of any calendar`() throws {
        let berlin = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        for extreme in [Timestamp(milliseconds: .min), .earliest, .latest, Timestamp(milliseconds: .max - 1)] {
            #expect(berlin.offset(at: extreme).range.contains(extreme))
            let day = berlin.day(of: extreme)
            #expect(day >= LocalDay.earliest.advanced(by: -1) && day <= LocalDay.latest.advanced(by: 1))
        }
        #expect(berlin.day(of: Timestamp(milliseconds: .max)) == LocalDay.latest.advanced(by: 1))
        #expect(!berlin.bounds(of: .latest).isEmpty)
        #expect(!berlin.bounds(of: .earliest).isEmpty)
        #expect(berlin.bounds(of: LocalDay(number: .max - 1)).isEmpty)
    }

    @Test func `has the name of its zone`() throws {
        #expect(LocalCalendar(identifier: "Asia/Kathmandu")?.identifier == "Asia/Kathmandu")
        #expect(LocalCalendar(identifier: "Europe/Atlantis") == nil)
        #expect(LocalCalendar(identifier: "") == nil)
    }
}
