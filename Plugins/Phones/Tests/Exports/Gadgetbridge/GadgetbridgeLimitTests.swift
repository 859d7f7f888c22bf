import Foundation
import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The limits of the driver, each at its boundary.
@Suite struct GadgetbridgeLimitTests {
    @Test func `a first export may change for a minute, and not for longer`() throws {
        for (changes, isRead) in [(11, true), (12, false)] {
            let phone = try GadgetbridgePhone()
            try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!", [[GadgetbridgePhone.midnight * 1000, 30]])
            let whole = try Data(contentsOf: phone.file)
            try Simulation.run(seed: 1, start: Scenario.start, deadline: .hours(1)) { simulation in
                let driver = GadgetbridgeDriver(GadgetbridgeOptions(path: phone.file.path), in: simulation)
                let context = try GadgetbridgePhone.context(clock: simulation.gatewayClock)
                let endings = Mutex<[String]>([])
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        // Within each five seconds in which it must not change.
                        for number in 0..<changes {
                            try await simulation.gatewayClock.sleep(for: .milliseconds(number == 0 ? 4500 : 5000))
                            try whole.write(to: phone.file)
                            try FileManager.default.setAttributes(
                                [.modificationDate: Date(timeIntervalSince1970: Double(1_700_100_000 + number))],
                                ofItemAtPath: phone.file.path)
                        }
                    }
                    do {
                        try await driver.withSession(over: .none, context: context) { session in
                            endings.withLock { $0.append(session.description.identity.model ?? "") }
                        }
                    } catch let error as DeviceError { endings.withLock { $0.append(error.message) } }
                    group.cancelAll()
                }
                let found = endings.withLock { $0 }
                #expect(found == [isRead ? "M2239B1" : "The export is still being written."], "\(changes)")
            }
        }
    }

    @Test func `an export without notes is compared by the newest fourteen days`() throws {
        var digests = Digests()
        func add(_ time: Timestamp, of metric: Metric) {
            digests.add(Sample(metric: metric, start: time, reading: .value(40)))
        }
        let now = GadgetbridgePhone.at(12)
        // Days of UTC: the fourteenth day before counts as a whole, since a part of it does.
        add(now - .days(15), of: .stress)
        add(now - .days(14), of: .stress)
        add(now - .days(13), of: .heartRate)
        let changes = digests.changes(since: Digests(), latest: now - ExportSource.lateness)
        #expect(
            changes == [
                .init(metric: .heartRate, from: GadgetbridgePhone.at(-13 * 24), to: GadgetbridgePhone.at(-12 * 24)),
                .init(metric: .stress, from: GadgetbridgePhone.at(-14 * 24), to: GadgetbridgePhone.at(-13 * 24)),
            ])
    }

    /// The last one is longer than any value that SQLite is allowed to give.
    @Test(arguments: [
        (WorkoutFeed.maximumSummary, 5012.0), (WorkoutFeed.maximumSummary + 1, nil), (5 << 20, nil),
    ])
    func `a summary of 256 KiB is read, and of a longer one only the workout`(length: Int, distance: Double?) throws {
        let phone = try GadgetbridgePhone()
        let text = #"{"distanceMeters":{"value":5012.0},"note":""#
        let rest = length - text.utf8.count - 2
        for (hour, note) in [(Int64(0), rest), (1, 10)] {
            let start = (GadgetbridgePhone.midnight + 3600 * hour) * 1000
            try phone.run(
                """
                INSERT INTO BASE_ACTIVITY_SUMMARY (START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID, USER_ID, SUMMARY_DATA)
                VALUES (\(start), \(start + 60_000), 16, 1, 1,
                    '\(text)' || substr(hex(zeroblob(\(note))), 1, \(note)) || '"}')
                """)
        }
        try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!", [[GadgetbridgePhone.midnight * 1000, 30]])
        let sports = try phone.samples(.sport).map { sample -> Double? in
            if case .sport(let sport) = sample.reading { sport.distance } else { -1 }
        }
        #expect(sports == [distance, 5012])
        #expect(try phone.values(.stress) == [Value(0, 30)])
        let counted = try phone.open().skippedRows["BASE_ACTIVITY_SUMMARY.SUMMARY_DATA"]
        #expect(counted == (distance == nil ? [.tooLong: 1] : nil))
    }

    @Test func `a change comes in batches of five hundred, each when the one before is durable`() throws {
        let phone = try GadgetbridgePhone()
        try phone.table(
            "GENERIC_STRESS_SAMPLE", "STRESS I!", (0..<1001).map { [(GadgetbridgePhone.midnight + $0) * 1000, 30] })
        try Simulation.run(seed: 1, start: Scenario.start, deadline: .hours(1)) { simulation in
            let driver = GadgetbridgeDriver(GadgetbridgeOptions(path: phone.file.path), in: simulation)
            let context = try GadgetbridgePhone.context(clock: simulation.gatewayClock)
            try await driver.withSession(over: .none, context: context) { session in
                for count in [500, 500, 1] {
                    let events = try #require(try await session.nextEvents())
                    var receipts: [SampleReceipt] = []
                    if case .samples(let samples, let found)? = events.first {
                        #expect(events.count == 1 && samples.count == count)
                        receipts = found
                    }
                    #expect(Set(receipts.map { $0.mark.prefix { $0 != "/" } }).count == 1 && receipts.count == count)
                    // Nothing more comes before the receipt.
                    try await simulation.gatewayClock.sleep(for: .minutes(1))
                    try await session.settle(receipts.map { SettledReceipt($0, .new) })
                }
            }
        }
    }

    @Test func `six thousand records of a minute are read, and more are counted`() throws {
        for (count, skipped) in [(MetricReader.maximumPerMinute, nil), (MetricReader.maximumPerMinute + 1, 1)] {
            let phone = try GadgetbridgePhone()
            try phone.table(
                "GENERIC_STRESS_SAMPLE", "STRESS I!",
                (0..<Int64(count)).map { [GadgetbridgePhone.midnight * 1000 + $0, 30] })
            try phone.insert("GENERIC_STRESS_SAMPLE", [[(GadgetbridgePhone.midnight + 60) * 1000, 31]])
            let samples = try phone.samples(.stress, limit: 1000)
            #expect(samples.count == MetricReader.maximumPerMinute + 1 && samples.last?.reading == .value(31))
            #expect(try phone.open().skippedRows["GENERIC_STRESS_SAMPLE"]?[.tooMany] == skipped)
        }
    }

    @Test(arguments: [NightLimits.perDay, NightLimits.perDay + 1])
    func `a day has a sleep an hour, and more are counted`(count: Int) throws {
        let phone = try GadgetbridgePhone()
        try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
        try phone.table("COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
        func ms(_ minute: Int) -> Int64 { (GadgetbridgePhone.midnight + Int64(minute) * 60) * 1000 }
        let starts = (0..<count).map { $0 * 30 } + [1440]
        try phone.insert("COLMI_SLEEP_SESSION_SAMPLE", starts.map { [ms($0), ms($0 + 20)] })
        try phone.insert("COLMI_SLEEP_STAGE_SAMPLE", starts.map { [ms($0), 20, 2] })
        let found = try phone.samples(.sleep).map(\.start)
        #expect(found == (Array(starts.prefix(NightLimits.perDay)) + [1440]).map { Timestamp(milliseconds: ms($0)) })
        let skipped = try phone.open().skippedRows["COLMI_SLEEP_SESSION_SAMPLE"]
        #expect(skipped == (count > NightLimits.perDay ? [.tooMany: 1] : nil))
    }

    @Test func `a sleep has as many stages as the gateway takes, and a night of a day is none`() throws {
        for (hours, isRead) in [(24, true), (25, false)] {
            let phone = try GadgetbridgePhone()
            try phone.table("COLMI_SLEEP_SESSION_SAMPLE", "WAKEUP_TIME I")
            try phone.table("COLMI_SLEEP_STAGE_SAMPLE", "DURATION I!, STAGE I!")
            let start = GadgetbridgePhone.midnight * 1000
            try phone.insert("COLMI_SLEEP_SESSION_SAMPLE", [[start, start + Int64(hours) * 3_600_000]])
            // More than one in thirty seconds, in turns.
            try phone.insert(
                "COLMI_SLEEP_STAGE_SAMPLE",
                (0..<Int64(SampleLimits.stages + 100)).map { [start + $0 * 20_000, 1, 2 + $0 % 2] })
            let samples = try phone.samples(.sleep)
            #expect(samples.count == (isRead ? 1 : 0) && samples.allSatisfy { $0.violations.isEmpty })
            #expect(try phone.open().skippedRows["COLMI_SLEEP_STAGE_SAMPLE"]?[.tooLong] == (isRead ? nil : 1))
        }
    }

    @Test func `a distance or an energy that cannot be is skipped, and the steps count`() throws {
        let phone = try GadgetbridgePhone()
        try phone.table("AK102_ACTIVITY_SAMPLE", "STEPS I!, DISTANCE_CM I!")
        try phone.table("GARMIN_ACTIVITY_SAMPLE", "STEPS I!, DISTANCE_CM I!")
        try phone.insert(
            "AK102_ACTIVITY_SAMPLE",
            [
                [GadgetbridgePhone.midnight, 7, 90_000], [GadgetbridgePhone.midnight + 60, 7, 90_001],
                [GadgetbridgePhone.midnight + 120, 7, -1],
            ])
        try phone.insert(
            "GARMIN_ACTIVITY_SAMPLE",
            [[GadgetbridgePhone.midnight + 600, 5, 100], [GadgetbridgePhone.midnight + 660, 9, 1_000_000_000_000]])
        let found = try phone.samples(.steps)
        let distances = found.map { sample -> Double? in
            if case .count(let steps) = sample.reading { steps.distance } else { nil }
        }
        #expect(found.compactMap(\.value) == [7, 7, 7, 5, 4])
        // 15 m in a second.
        #expect(distances == [900, nil, nil, 1, nil] && found.allSatisfy { $0.violations.isEmpty })
    }
}
