import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// A phone writes its export in place, slowly, and a network may cut it anywhere.
@Suite struct TornFileTests {
    private static let rows: Int64 = 3000
    private let phone: GadgetbridgePhone

    init() throws {
        phone = try GadgetbridgePhone()
        try phone.table("GENERIC_HEART_RATE_SAMPLE", "HEART_RATE I!")
        try Self.fill(phone, 0..<Self.rows)
    }

    private static func fill(_ phone: GadgetbridgePhone, _ minutes: Range<Int64>) throws {
        try phone.insert(
            "GENERIC_HEART_RATE_SAMPLE", minutes.map { [(GadgetbridgePhone.midnight - $0 * 60) * 1000, 60 + $0 % 40] })
    }

    /// Every heart rate that the phone ever measured, by minutes before midnight.
    private static func isTrue(_ sample: Sample) -> Bool {
        let minute = (GadgetbridgePhone.midnight - sample.start.milliseconds / 1000) / 60
        return sample.reading == .value(Double(60 + minute % 40))
    }

    @Test func `a file that is cut at any of two hundred points is not read`() throws {
        let whole = try Data(contentsOf: phone.file)
        var random = SplitMix64(seed: 17)
        for _ in 0..<200 {
            let length = Int.random(in: 0..<whole.count, using: &random)
            try whole.prefix(length).write(to: phone.file)
            let error = #expect(throws: ExportError.self) { _ = try phone.open() }
            #expect(error?.code == .torn, "\(length): \(error?.message ?? "")")
        }
        try whole.write(to: phone.file)
        #expect(try phone.samples(.heartRate, limit: 2000).count == Int(Self.rows))
    }

    /// Minutes whose rates are other ones in the second export: a part of a day, and the newest.
    private static let changed: [Range<Int64>] = [1000..<1100, 0..<3]

    /// A rate of the second export.
    private static func other(_ minute: Int64) -> Double { Double(80 + minute % 40) }

    /// The minutes before midnight with a changed rate.
    private static func minutes(_ sample: Sample) -> Int64 {
        (GadgetbridgePhone.midnight - sample.start.milliseconds / 1000) / 60
    }

    /// Both exports of the phone: the second one has other rates, and more of them if it grows.
    private func exports(grows: Bool) throws -> (old: Data, new: Data) {
        let old = try Data(contentsOf: phone.file)
        if grows { try Self.fill(phone, Self.rows..<(2 * Self.rows)) }
        for range in Self.changed {
            try phone.insert(
                "GENERIC_HEART_RATE_SAMPLE",
                range.map { [(GadgetbridgePhone.midnight - $0 * 60) * 1000, Int64(Self.other($0))] })
        }
        let new = try Data(contentsOf: phone.file)
        try old.write(to: phone.file)
        #expect(grows ? new.count > old.count : new.count == old.count)
        return (old, new)
    }

    /// Overwrites the file slowly, and checks all that is kept meanwhile.
    private static func overwrite(
        _ phone: GadgetbridgePhone, with target: Data, _ scenario: Scenario, _ random: inout SplitMix64,
        check: (_ kept: [Sample]) -> Void
    ) async throws {
        let file = try FileHandle(forUpdating: phone.file)
        defer { try? file.close() }
        var place = 0
        while place < target.count {
            let length = min(Int.random(in: 1...60_000, using: &random), target.count - place)
            try file.seek(toOffset: UInt64(place))
            try file.write(contentsOf: target[place..<(place + length)])
            place += length
            guard place < target.count else { break }
            // Often longer than the time in which a file must not change, and than the time between two checks.
            try await scenario.pass(.seconds(Int.random(in: 1...150, using: &random)))
            check(scenario.kept.samples(.heartRate))
        }
        try file.truncate(atOffset: UInt64(target.count))
    }

    @Test(arguments: [true, false])
    func `a file that is overwritten while it is checked loses and invents nothing`(grows: Bool) throws {
        let (old, new) = try exports(grows: grows)
        let rounds = 6
        let log = LogRecorder()
        try Scenario.run(with: phone, deadline: .days(20), log: log) { [phone] scenario in
            let changed = Set(Self.changed.flatMap { $0 })
            /// How many of the changed rates are those of the second export.
            func changes(_ kept: [Sample]) -> Int {
                var count = 0
                for sample in kept {
                    let minute = Self.minutes(sample)
                    let isOther = changed.contains(minute) && sample.reading == .value(Self.other(minute))
                    if isOther { count += 1 }
                    #expect(isOther || Self.isTrue(sample), "\(minute)")
                }
                return count
            }
            func attempts() -> Int { log.entries.count { $0.message == "The export cannot be read now." } }
            func reads() -> Int { log.entries.count { $0.message == "A new export was read." } }

            try await scenario.pass(.seconds(80))
            #expect(scenario.kept.samples(.heartRate).count == Int(Self.rows) && reads() == 1)
            var random = scenario.simulation.random()
            for round in 0..<rounds {
                // Back and forth: each round leaves the file as the other export.
                let isNew = round % 2 == 0
                let (readBefore, attemptsBefore) = (reads(), attempts())
                try await Self.overwrite(phone, with: isNew ? new : old, scenario, &random) { kept in
                    let count = changes(kept)
                    // A file that grows shows by its size that it is torn: one export is known as a whole, or the other. Of two files
                    // of one size, a part of each may pass for an export.
                    if grows { #expect(count == (isNew ? 0 : changed.count), "round \(round)") }
                }
                if grows { #expect(attempts() > attemptsBefore && reads() == readBefore, "round \(round)") }
                try await scenario.pass(.seconds(80))
                #expect(reads() > readBefore)
                #expect(changes(scenario.kept.samples(.heartRate)) == (isNew ? changed.count : 0), "round \(round)")
            }
            try new.write(to: phone.file)
            try await scenario.pass(.seconds(80))
            #expect(scenario.kept.samples(.heartRate).count == Int(grows ? 2 * Self.rows : Self.rows))
            #expect(scenario.endings.isEmpty)
            // A revision for each time that a rate became another one, and none without.
            let revisions = scenario.kept.revisions(.heartRate)
            for sample in scenario.kept.samples(.heartRate) {
                let expected = changed.contains(Self.minutes(sample)) ? rounds + 2 : 1
                #expect(revisions[sample.start] == expected)
            }
        }
    }
}
