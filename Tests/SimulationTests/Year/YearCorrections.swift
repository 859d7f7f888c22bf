import Foundation
import GatewayKit
import GatewayTesting
import JSON
import TestSupport
import Testing
import Vitals

extension Year {
    /// A past record that a device corrects, with or without its own revision.
    private struct Correction: Sendable {
        var device: String
        var metric: Metric
        var revision: Int?
        /// Which of the two remarkable days it is on or near; `nil` for the last day.
        var turn: Int?
    }

    private static let corrections = [
        Correction(device: "band", metric: .heartRate, revision: 2, turn: 0),
        Correction(device: "band", metric: .sleep, turn: 1),
        Correction(device: "band", metric: .sport, revision: 7, turn: 0),
        Correction(device: "band", metric: .bloodPressure, turn: 1),
        Correction(device: "cuff", metric: .bloodPressure, revision: 3, turn: 0),
        Correction(device: "ring", metric: .steps, turn: 1),
        Correction(device: "ring", metric: .temperature, revision: 2, turn: 1),
        Correction(device: "band", metric: .restingHeartRate, turn: 0),
        // An oximeter has three days of history.
        Correction(device: "oximeter", metric: .bloodOxygen, revision: 5),
    ]

    /// Lets the devices correct past records. Each affected day, and no other, is published once more.
    func correct() async throws {
        try await environment.runGateway {
            try await self.environment.simulation.gatewayClock.sleep(for: .minutes(2))
            for (number, correction) in Self.corrections.enumerated() { try await self.make(correction, number) }
        }
    }

    private func make(_ correction: Correction, _ number: Int) async throws {
        let before = try read()
        let series = Series(device: correction.device, metric: correction.metric.rawValue)
        let day = try day(of: correction, in: before)
        let known = try #require(before.samples[series]?[day]?.values)
        let samples = known.filter { !$0.isWithdrawn }.sorted { $0.start < $1.start }
        let old = samples[samples.count / 2]
        let device = try #require(environment.devices.first { $0.id.text == correction.device })
        var sample = try #require(
            device.handedOver.first {
                $0.metric == correction.metric && $0.start.description == old.start && $0.end.description == old.end
                    && $0.isUserInitiated == old.isManual
            })
        sample.reading = Self.corrected(sample)
        sample.revision = correction.revision
        device.correct(sample)

        try await synchronise(correction, day, "first \(number)")
        let after = try read()
        let new = try #require(after.samples[series]?[day]?[old.id])
        #expect(new.revision == max(old.revision + 1, correction.revision ?? 0), "\(series) \(day)")
        #expect(new.body["value"] != old.body["value"] || new.body["fields"] != old.body["fields"])
        let summaries = try #require(after.past[series]?[day])
        #expect(summaries.count == (before.past[series]?[day]?.count ?? 0) + 1, "\(series) \(day)")
        let last = try #require(summaries.last)
        #expect(last["rev"]?.asInt == summaries.count)
        #expect(try after.differences(last, series, day) == [])
        #expect(last != summaries.dropLast().last)
        // The heart rate's day also lists the resting heart rates.
        let count = correction.metric == .restingHeartRate ? 2 : 1
        #expect(after.factCount == before.factCount + count, "another day was published, too")

        // The same content again is no correction.
        try await synchronise(correction, day, "second \(number)")
        let again = try read()
        #expect(again.factCount == after.factCount)
        #expect(again.samples[series]?[day]?[old.id]?.revision == new.revision)
    }

    private func day(of correction: Correction, in year: YearConsumer) throws -> String {
        let series = Series(device: correction.device, metric: correction.metric.rawValue)
        let all = try #require(year.samples[series]).keys.sorted().dropLast()
        guard let turn = correction.turn else { return try #require(all.last) }
        let near = try days.remarkable()[turn]
        return try #require(all.first { $0 >= near } ?? all.last)
    }

    private func synchronise(_ correction: Correction, _ day: String, _ id: String) async throws {
        let start = try days.start(of: day)
        let range = [start.addingTimeInterval(-86_400), min(environment.now, start.addingTimeInterval(90_000))]
        let answer = try await environment.ask(
            "sync", id, of: correction.device,
            [
                ("metrics", [.string(correction.metric.rawValue)]),
                ("from", .string(range[0].formatted(PlainDays.wire))),
                ("to", .string(range[1].formatted(PlainDays.wire))),
            ])
        #expect(answer["status"] == "done", "\(answer)")
        try await environment.simulation.gatewayClock.sleep(for: .minutes(1))
    }

    /// A reading that must change the summary of the day.
    private static func corrected(_ sample: Sample) -> Reading {
        switch sample.reading {
        case .value: .value(sample.metric == .temperature ? 40.5 : sample.metric == .bloodOxygen ? 71 : 213)
        case .bloodPressure(let pressure):
            .bloodPressure(BloodPressure(systolic: 191, diastolic: 51, pulse: pressure.pulse))
        case .count(let steps): .count(Increment(count: steps.count + 1000, distance: 700.5, energy: nil))
        case .sleep(let sleep):
            .sleep(Sleep(stages: sleep.stages.map { Sleep.Stage(.rem, from: $0.start, to: $0.end) }))
        case .sport(let sport): .sport(Sport(activity: sport.activity, distance: 1_234.5, energy: 999))
        }
    }
}
