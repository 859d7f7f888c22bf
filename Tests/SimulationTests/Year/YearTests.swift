import Foundation
import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

/// A year of four wearables, through the whole gateway: each day's summary must equal a plain computation from the
/// published samples.
///
/// The gateway runs for five minutes around every second midnight, and around each one with a clock change; everything
/// in between comes from the wearables' histories.
@Suite struct YearTests {
    struct Profile: Sendable, CustomTestStringConvertible {
        var zone: String
        /// The date of the first connection, which is in its evening; given as noon in Greenwich.
        var first: Date
        /// The days of the first synchronisation, and the days that follow it.
        var history: Int
        var days: Int
        var testDescription: String { "\(zone), \(history) and \(days) days from \(first.formatted(.iso8601))" }

        init(_ zone: String, from first: String, history: Int, days: Int) {
            self.zone = zone
            self.first = (try? Date("\(first)T12:00:00Z", strategy: .iso8601)) ?? .distantPast
            self.history = history
            self.days = days
        }
    }

    /// Whole years of 2026 in as many zones as `SIMULATION_YEARS` says, each some minutes long, and of the others the weeks with events:
    /// those of a clock change, or a month's end in a zone without one.
    static let profiles =
        [
            [whole("Europe/Berlin")], [whole("America/New_York")], [whole("Asia/Kathmandu")],
        ].prefix(years).flatMap(\.self)
        + [
            weeks("Europe/Berlin", "2026-03-23", "2026-10-19"), weeks("America/New_York", "2026-03-02", "2026-10-26"),
            weeks("Asia/Kathmandu", "2026-04-10"),
        ].dropFirst(years).flatMap(\.self)

    private static let years = min(3, Int(ProcessInfo.processInfo.environment["SIMULATION_YEARS"] ?? "") ?? 0)

    private static func weeks(_ zone: String, _ starts: String...) -> [Profile] {
        starts.map { Profile(zone, from: $0, history: 6, days: 12) }
    }

    /// With its first synchronisation, the year begins on January 1.
    private static func whole(_ zone: String) -> Profile { Profile(zone, from: "2026-01-31", history: 30, days: 335) }

    @Test(arguments: profiles) func `every day is what its samples amount to`(profile: Profile) throws {
        let start = Timestamp(seconds: Int64(profile.first.timeIntervalSince1970))
        try Simulation(seed: 3, start: start).run(deadline: .days(400)) { simulation in
            let earlier = profile.first.addingTimeInterval(-Double(profile.history + 10) * 86_400)
            let count = profile.history + profile.days + 15
            let days = try PlainDays(zone: profile.zone, from: earlier, count: count)
            let additions = YearAdditions.all(calendar: days.calendar, from: earlier, days: count)
            let environment = try FourWearables(
                simulation: simulation, zone: profile.zone, historyDays: 400, first: .days(profile.history),
                additions: additions)
            defer { environment.remove() }
            let year = Year(environment: environment, days: days)
            for midnight in Self.midnights(profile, days.calendar) { try await year.passMidnight(midnight) }
            try await year.checkAll()
            try await year.correct()
        }
    }

    /// Every second midnight, and those before and after clock changes.
    private static func midnights(_ profile: Profile, _ calendar: Calendar) -> [Date] {
        let starts = (1...profile.days).compactMap {
            calendar.date(byAdding: .day, value: $0, to: calendar.startOfDay(for: profile.first))
        }
        return starts.enumerated().filter { number, start in
            let turn = calendar.timeZone.nextDaylightSavingTimeTransition(after: start.addingTimeInterval(-93_600))
            let isNear = turn.map { $0 < start.addingTimeInterval(93_600) } ?? false
            return number % 2 == 0 || isNear || number == starts.count - 1
        }.map(\.element)
    }
}
