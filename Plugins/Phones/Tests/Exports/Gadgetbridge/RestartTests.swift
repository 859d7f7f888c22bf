import Foundation
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What was exported while the gateway did not run. The notes are all that the next process has of the one before.
@Suite struct RestartTests {
    private let phone: GadgetbridgePhone
    private let notes = DeviceNotes()
    private static let table = "GENERIC_HEART_RATE_SAMPLE"
    /// Enough for a check and for the time in which a file must not change.
    private static let soon: Duration = .seconds(80)

    init() throws {
        phone = try GadgetbridgePhone()
        try phone.table(Self.table, "HEART_RATE I!")
        // One a day, of two years.
        try phone.insert(Self.table, (0..<730).map { [Self.ms(daysAgo: $0), 60] })
    }

    private static func ms(daysAgo days: Int64) -> Int64 { (GadgetbridgePhone.midnight - days * 86_400) * 1000 }
    private static func at(daysAgo days: Int64) -> Timestamp { Timestamp(milliseconds: ms(daysAgo: days)) }

    /// The days that may have come late to the first export of all, at noon of the day after the last one.
    private static let late = (0..<14).reversed().map { at(daysAgo: $0) }

    /// What a process of the gateway receives besides the synchronisation, which reads everything from the first day on here.
    private func reported(
        zone: String = "UTC", notes: DeviceNotes? = nil, during body: @escaping @Sendable () throws -> Void = {}
    ) throws -> [Timestamp] {
        let reported = Recorder<[Timestamp]>()
        try Scenario.run(with: phone, zone: zone, deadline: .days(3), notes: notes ?? self.notes) { scenario in
            try await scenario.pass(Self.soon)
            try body()
            try await scenario.pass(Self.soon)
            reported.append(scenario.events.map(\.start))
        }
        return try #require(reported.elements.last)
    }

    private func correct(daysAgo day: Int64, to value: Int) throws {
        try phone.run("UPDATE \(Self.table) SET HEART_RATE = \(value) WHERE TIMESTAMP = \(Self.ms(daysAgo: day))")
    }

    @Test func `a correction of any day comes after a restart, and nothing else`() throws {
        // Of the first export of all, the days that may have come late.
        #expect(try reported() == Self.late)
        #expect(try reported() == [])
        try correct(daysAgo: 20, to: 61)
        try correct(daysAgo: 700, to: 62)
        #expect(try reported() == [Self.at(daysAgo: 700), Self.at(daysAgo: 20)])
        #expect(try reported() == [])
    }

    @Test func `what was reported to a running gateway is known after a restart`() throws {
        let phone = phone
        _ = try reported {
            try phone.run("UPDATE \(Self.table) SET HEART_RATE = 61 WHERE TIMESTAMP = \(Self.ms(daysAgo: 90))")
        }
        #expect(try reported() == [])
    }

    @Test func `the notes of another time zone say nothing`() throws {
        _ = try reported()
        try correct(daysAgo: 20, to: 61)
        #expect(try reported(zone: "Asia/Tokyo") == Self.late)
        #expect(try reported(zone: "Asia/Tokyo") == [])
    }

    @Test func `notes that cannot be written cost nothing but the same samples once more`() throws {
        let notes = DeviceNotes()
        notes.attach(
            to: DeviceNotes.Storage { () async throws(DeviceError) in
                [:]
            } save: { _ throws(DeviceError) in
                throw DeviceError(.failure, "The disk is full.")
            })
        let phone = phone
        let times = try reported(notes: notes) {
            try phone.run("UPDATE \(Self.table) SET HEART_RATE = 61 WHERE TIMESTAMP = \(Self.ms(daysAgo: 90))")
        }
        // The second export is compared with the first one all the same.
        #expect(times == Self.late + [Self.at(daysAgo: 90)])
    }

    @Test func `digests are what they were in another process`() throws {
        var digests = Digests()
        for day: Int64 in [0, 1, 364, 365, 366, 8_000, 20_467] {
            let start = Timestamp(milliseconds: day * 86_400_000 + 5)
            digests.add(Sample(metric: .heartRate, start: start, reading: .value(40)))
            digests.add(Sample(metric: .stress, start: start, reading: .value(Double(day % 90))))
        }
        #expect(Digests(notes: digests.notes) == digests)
        #expect(
            digests.notes.keys.filter { $0.contains("stress") }.sorted() == [0, 1, 21, 56].map { "day.stress.\($0)" })
        #expect(digests.changes(ofNotes: digests).isEmpty)
        let sample = Sample(metric: .heartRate, start: Timestamp(milliseconds: 1), reading: .value(40))
        // By an implementation of FNV-1a in Python.
        #expect(sample.stableHash == 0x6ac44995e73b210d)
    }

    @Test func `notes that cannot be read are skipped, and each note fits`() {
        let odd = [
            "day.stress.0": [UInt8](repeating: 1, count: 11), "day.stress.x": [], "day.none.0": [], "other": [1],
        ]
        #expect(Digests(notes: odd) == Digests())
        #expect(Digests(notes: ["day.stress.99999": [UInt8](repeating: 1, count: 10)]) == Digests())
        var full = Digests()
        // Twenty-six years of every metric that the gateway knows.
        for metric in Metric.allCases {
            for day in Int64(10_957)..<20_454 { full.days[metric, default: [:]][day] = 1 }
        }
        let notes = full.notes
        #expect(notes.count < DeviceNotes.maximumNotes)
        #expect(notes.values.allSatisfy { $0.count <= DeviceNotes.maximumSize })
        #expect(notes.keys.allSatisfy { $0.utf8.count <= DeviceNotes.maximumName })
    }
}
