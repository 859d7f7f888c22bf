import Foundation
import GatewayKit
import GatewayTesting
import JSON
import Synchronization
import TestSupport
import Testing
import Vitals

/// A simulated year: its events, and the checks at each step.
final class Year: Sendable {
    typealias Series = YearConsumer.Series

    let environment: FourWearables
    let days: PlainDays
    private let consumer: Mutex<YearConsumer>
    private let runs = Mutex(0)

    init(environment: FourWearables, days: PlainDays) {
        self.environment = environment
        self.days = days
        consumer = Mutex(YearConsumer(days: days))
    }

    private func today() throws -> String { try #require(days.day(of: environment.now.formatted(PlainDays.wire))) }

    /// The consumer's knowledge after all published messages.
    func read() throws -> YearConsumer {
        try consumer.withLock { consumer in
            try consumer.read(environment.observation.messages)
            return consumer
        }
    }

    /// Runs the gateway from four minutes before a midnight until one minute after it.
    func passMidnight(_ midnight: Date) async throws {
        let run = runs.withLock { runs in
            runs += 1
            return runs
        }
        try await environment.sleep(until: midnight.addingTimeInterval(-240))
        try await environment.runGateway {
            if run == 1 { self.configure() }
            try await self.environment.sleep(until: midnight.addingTimeInterval(-210))
            if run % 8 == 2 { try await self.measure(run) }
            for offset in [-60.0, 60] {
                try await self.environment.sleep(until: midnight.addingTimeInterval(offset))
                let differences = try self.read().runningDifferences(on: try self.today())
                #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(5).joined(separator: "\n"))")
            }
        }
    }

    private func configure() {
        for (id, _, monitoring) in FourWearables.models {
            if let monitoring { environment.send(monitoring, to: id, "config/set") }
        }
    }

    /// Makes measurements on demand, which become manual items.
    private func measure(_ run: Int) async throws {
        for (device, metric) in [("band", "heart_rate"), ("cuff", "blood_pressure"), ("ring", "blood_oxygen")] {
            let answer = try await environment.ask(
                "measure", "\(device) \(run)", of: device,
                [("metric", .string(metric)), ("duration_s", 5)])
            #expect(answer["status"] == "done", "\(answer)")
        }
    }

    /// Checks the whole year, as published and as answered.
    func checkAll() async throws {
        try await environment.runGateway {
            try await self.environment.simulation.gatewayClock.sleep(for: .minutes(2))
            try await self.checkAnswers(of: try self.read())
        }
        let year = try read()
        let differences = try year.pastDifferences(before: try today())
        #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(5).joined(separator: "\n"))")
        var names: Set<String> = []
        for device in environment.devices {
            for sample in device.holding where sample.metric != .battery {
                names.insert(
                    YearConsumer.name(
                        device.id.text, sample.metric.rawValue, sample.start.description, sample.end.description,
                        sample.isUserInitiated))
            }
        }
        #expect(names.subtracting(year.names).isEmpty, "samples were lost")
        #expect(year.names.subtracting(names).isEmpty, "samples were invented")
        #expect(names.count > 100 * days.count)
    }

    private func checkAnswers(of year: YearConsumer) async throws {
        for (series, byDay) in year.samples {
            let answered = try await self.answered(series).filter { day, body in
                byDay[day] != nil || !(YearConsumer.isOnlySaidByDevice(body) || body["count"] == 0)
            }
            #expect(Set(answered.keys) == Set(byDay.keys), "\(series)")
            for (day, body) in answered {
                let differences = try year.differences(body, series, day)
                #expect(differences.isEmpty, "\(differences)")
                let published = year.past[series]?[day]?.last
                #expect(body["rev"] == published?["rev"] ?? 1, "\(series) \(day)")
            }
        }
    }

    /// All days of a series, page by page.
    private func answered(_ series: Series) async throws -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        let to = try today()
        // Up to a year and a day per request.
        let begin = environment.now.addingTimeInterval(-365 * 86_400).formatted(PlainDays.wire)
        var from: String? = days.day(of: begin) ?? days.first
        while let first = from {
            let answer = try await environment.ask(
                "daily", "\(series.device) \(series.metric) \(first) \(to)", of: series.device,
                [("metric", .string(series.metric)), ("from_day", .string(first)), ("to_day", .string(to))])
            let list = try #require(answer["data"]?["days"]?.asArray, "\(answer)")
            for day in list { result[try #require(day["date"]?.asString)] = day }
            from = answer["data"]?["next"]?.asString
        }
        return result
    }
}
