import Contract
import MQTT
import Testing
import Vitals

@testable import vitals2mqtt_bench

/// Checks the benchmark's reading of a message against the gateway's encoder.
@Suite struct PayloadScannerTests {
    private static func payload(_ samples: [StoredSample], isHistorical: Bool) throws -> [UInt8] {
        let device = try #require(DeviceID("dev-3"))
        var encoder = ContractEncoder(
            topics: ContractTopics(gateway: try #require(DeviceID("home"))),
            calendar: try #require(LocalCalendar(identifier: "Europe/Berlin")))
        let fact = Fact(
            sequence: 4711, lane: .live, device: device,
            content: .measurement(
                .init(
                    metric: .heartRate, source: .live, isHistorical: isHistorical, user: nil, samples: samples)))
        return encoder.fact(
            fact, info: DeviceInfo(id: device, name: "Band", driver: "link"), publishedAt: Timestamp(milliseconds: 0)
        ).payload
    }

    private static func sample(_ start: Int64, _ value: Double) throws -> StoredSample {
        let device = try #require(DeviceID("dev-3"))
        let sample = Sample(metric: .heartRate, start: Timestamp(milliseconds: start), reading: .value(value))
        return StoredSample(
            sample: sample, of: device, revision: 1,
            receivedAt: Timestamp(milliseconds: start + 5))
    }

    @Test(arguments: [true, false]) func `reads every sample that the gateway writes`(isHistorical: Bool) throws {
        // A leap day, the last millisecond of a year, and one without a fraction.
        let moments: [(Int64, Double, Int64)] = [
            (1_709_164_800_000, 60.137, 137), (1_798_761_599_999, 72.5, 500), (1_763_712_000_042, 88, 0),
        ]
        let bytes = try Self.payload(moments.map { try Self.sample($0.0, $0.1) }, isHistorical: isHistorical)
        try bytes.withUnsafeBytes { buffer in
            var scanner = PayloadScanner(buffer)
            #expect(scanner.isHistorical() == isHistorical)
            #expect(scanner.sequence() == 4711)
            var identities: Set<UInt64> = []
            for (start, _, thousandths) in moments {
                let next = scanner.next()
                let arrival = try #require(next)
                #expect(arrival.start == start)
                #expect(arrival.thousandths == thousandths)
                identities.insert(arrival.identity)
            }
            #expect(identities.count == moments.count)
            let end = scanner.next()
            #expect(end == nil)
        }
    }

    @Test func `stops at the end of a payload that is cut off`() throws {
        let bytes = try Self.payload([Self.sample(1_709_164_800_000, 60)], isHistorical: false)
        for count in 0..<bytes.count {
            Array(bytes[..<count]).withUnsafeBytes { buffer in
                var scanner = PayloadScanner(buffer)
                _ = scanner.isHistorical()
                _ = scanner.sequence()
                while scanner.next() != nil {}
            }
        }
    }
}
