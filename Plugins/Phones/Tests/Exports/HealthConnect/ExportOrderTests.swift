import TestSupport
import Testing
import Vitals

@testable import Phones

/// However often exports come and however they grow, a consumer ends with the samples of the last one alone.
@Suite struct ExportOrderTests {
    /// Steps of a device, from the first of 1 for those that count first.
    private struct Count: Hashable {
        var device: Int
        var start: Int64
        var end: Int64
        var number: Int
    }

    /// The night after `HealthPhone.midnight` in which Berlin's clocks go forward, or that in which they go back.
    private static func counts(isAutumn: Bool, _ random: inout SplitMix64) -> [Count] {
        // 2025-10-25T00:00:00Z and 22 hours, or the same of March.
        let night = (isAutumn ? 1_761_350_400_000 : HealthPhone.midnight) + 22 * 3_600_000
        var counts: [Count] = []
        for (device, minutes) in [(1, 1), (2, 15)] {
            for place in 0..<(240 / minutes) where Int.random(in: 0..<3, using: &random) == 0 {
                let start = night + Int64(place * minutes * 60_000 + device * 20_000)
                counts.append(
                    Count(
                        device: device, start: start, end: start + Int64(minutes * 60_000),
                        number: Int.random(in: 1...300, using: &random)))
            }
        }
        return counts
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `exports of Health Connect that grow end as the last one`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let counts = Self.counts(isAutumn: seed % 2 == 1, &random)
        let phone = try HealthPhone()
        let device = try #require(DeviceID("watch"))
        let (growing, last) = (
            try ConsumedStore(.lastReported, device: device), try ConsumedStore(.lastReported, device: device)
        )
        // At first, of one device alone.
        let order = counts.filter { $0.device == 1 + Int(seed / 2 % 2) }.prefix(3) + counts.shuffled(using: &random)
        var exported: Set<Count> = []
        for (row, count) in order.enumerated() where exported.insert(count).inserted {
            try phone.interval(
                "steps_record_table", row + 1, count.start, count.end, device: count.device,
                [("count", "\(count.number)")])
            try phone.interval("heart_rate_record_table", row + 1, count.start, count.end, device: count.device)
            // Both devices have a heart rate at the same moments.
            let moment = count.start / 900_000 * 900_000
            try phone.run(
                "INSERT INTO heart_rate_record_series_table VALUES (\(row + 1), \(70 + count.device), \(moment))")
            guard row % 20 == 2 || exported.count == counts.count else { continue }
            for _ in 0..<2 { try await growing.ingest(try Self.samples(of: phone)) }
        }
        let samples = try Self.samples(of: phone)
        try await last.ingest(samples)
        #expect(growing.held == last.held)
        let wanted = counts.filter { count in
            count.device == 1
                || !counts.contains { $0.device == 1 && $0.start < count.end && count.start < $0.end }
        }
        let found = growing.held(.steps).map { sample in
            let (start, end) = (sample.start.milliseconds, sample.end.milliseconds)
            return Count(device: end - start > 60_000 ? 2 : 1, start: start, end: end, number: Int(sample.value ?? 0))
        }
        #expect(Set(found) == Set(wanted) && found.count == wanted.count)
        let rates = Set(counts.map { [$0.device, Int($0.start / 900_000)] })
        #expect(growing.held(.heartRate).count == rates.count)
        #expect(try await growing.ingest(samples).allSatisfy { $0 == .known || $0 == .withdrawn })
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `exports of Gadgetbridge that grow end as the last one`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let phone = try GadgetbridgePhone()
        try phone.table("XIAOMI_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!")
        let device = try #require(DeviceID("band"))
        let (growing, last) = (
            try ConsumedStore(.lastReported, device: device), try ConsumedStore(.lastReported, device: device)
        )
        var wanted: [Int64: Int] = [:]
        for _ in 0..<12 {
            // A later synchronisation of the wearable overwrites minutes in place.
            for _ in 0..<20 {
                let minute = GadgetbridgePhone.midnight + 60 * Int64.random(in: 1..<300, using: &random)
                let steps = Int.random(in: 1...90, using: &random)
                try phone.insert("XIAOMI_ACTIVITY_SAMPLE", [[minute, 0, steps, 0, 70]])
                wanted[minute] = steps
            }
            for _ in 0..<2 { try await growing.ingest(try phone.samples(.steps)) }
        }
        let samples = try phone.samples(.steps)
        try await last.ingest(samples)
        #expect(growing.held == last.held)
        let found = last.held(.steps).map { ($0.end.milliseconds / 1000, Int($0.value ?? 0)) }
        #expect(Dictionary(uniqueKeysWithValues: found) == wanted)
        #expect(try await growing.ingest(samples).allSatisfy { $0 == .known })
    }

    /// All steps and heart rates, as read page by page.
    private static func samples(of phone: HealthPhone) throws -> [Sample] {
        try phone.samples(.steps, limit: 50) + phone.samples(.heartRate, limit: 50)
    }
}
