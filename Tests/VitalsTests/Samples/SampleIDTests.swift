import Foundation
import Testing
import Vitals

@Suite struct SampleIDTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var device: String
        var metric: Metric
        var start: Int64
        var end: Int64
        var isUserInitiated: Bool
        var expected: String
        var testDescription: String { "\(device) \(metric) \(start) \(isUserInitiated)" }
    }

    /// Identities by Python's `uuid.uuid5`, the last with a name that takes three blocks.
    @Test(arguments: [
        Case(
            device: "band-1", metric: .heartRate, start: 1_795_000_000_000, end: 1_795_000_000_000,
            isUserInitiated: false, expected: "98cb581d-4ad1-5cf5-aeaa-493d40a22ed5"),
        Case(
            device: "band-1", metric: .heartRate, start: 1_795_000_000_000, end: 1_795_000_000_000,
            isUserInitiated: true, expected: "7ffc0e0e-2aad-505b-81f2-71afc5261eed"),
        Case(
            device: "ring-1", metric: .sleep, start: 1_795_000_000_000, end: 1_795_028_800_000,
            isUserInitiated: false, expected: "02dfd013-af79-5124-96c1-bdf29dab9221"),
        Case(
            device: "a", metric: .steps, start: 0, end: 0, isUserInitiated: false,
            expected: "ec10c0fe-e0bd-5a3c-b2bb-445c6dcaa32e"),
        Case(
            device: "band-1", metric: .temperature, start: -1500, end: -500, isUserInitiated: false,
            expected: "8cc9b94a-e919-59fa-b31f-4513527dfd03"),
        Case(
            device: String(repeating: "x", count: 64), metric: .restingHeartRate, start: 1_795_000_000_000,
            end: 1_795_000_000_000, isUserInitiated: true, expected: "ce8b8fc6-9e33-599f-ab80-68fa5e005e1a"),
    ])
    func `is a UUID of version 5 that other programs compute too`(_ example: Case) throws {
        let device = try #require(DeviceID(example.device))
        let id = SampleID(
            device: device, metric: example.metric, start: Timestamp(milliseconds: example.start),
            end: Timestamp(milliseconds: example.end), isUserInitiated: example.isUserInitiated)
        #expect(id.description == example.expected)
    }

    @Test(arguments: [
        ("", "63e95a51-cd57-5714-ab08-d6c7fa2b76a1"), ("ü", "ac806156-264e-54a9-8bd5-f05c931d3de7"),
        ("band-1|heart_rate_resting_high|raised|1795000000000", "5c8a134a-3c45-589c-8a7b-ffa1711d463b"),
    ])
    func `is made of any name`(name: String, expected: String) {
        #expect(SampleID(name: name).description == expected)
    }

    @Test func `does not depend on kind, value and revision`() throws {
        let device = try #require(DeviceID("band-1"))
        let start = Timestamp(milliseconds: 1_795_000_000_000)
        let sample = Sample(metric: .heartRate, start: start, reading: .value(60))
        let correction = Sample(metric: .heartRate, start: start, kind: .resting, revision: 2, reading: .value(61))
        #expect(SampleID(device: device, sample: sample) == SampleID(device: device, sample: correction))
        #expect(SampleID(device: device, sample: sample).description == "98cb581d-4ad1-5cf5-aeaa-493d40a22ed5")
    }

    @Test func `is at random of version 4, and the seed's`() {
        var generator = SplitMix64(seed: 1)
        var again = SplitMix64(seed: 1)
        for _ in 0..<100 {
            let id = SampleID(random: &generator)
            #expect(id == SampleID(random: &again))
            let text = Array(id.description)
            #expect(text[14] == "4")
            #expect("89ab".contains(text[19]))
        }
        #expect(SampleID(random: &generator) != SampleID(random: &generator))
    }

    @Test func `beside the value of an earlier source it names its own`() throws {
        let device = try #require(DeviceID("band-1"))
        let moment = Timestamp(milliseconds: 1_795_000_000_000)
        var sample = Sample(metric: .heartRate, start: moment, reading: .value(60))
        sample.origin = SampleOrigin(place: 2, name: "iPhone")
        #expect("\(SampleID(device: device, sample: sample))" == "98cb581d-4ad1-5cf5-aeaa-493d40a22ed5")
        sample.origin?.isBeside = true
        #expect("\(SampleID(device: device, sample: sample))" == "cb31d428-cb88-5ef7-a394-260a5ab769a8")
        #expect(SampleKey(page: SampleKey(sample).page) == SampleKey(sample))
    }

    @Test func `of a distance names its activity`() throws {
        let device = try #require(DeviceID("ring-1"))
        let start = try #require(Timestamp(rfc3339: "2026-11-20T22:10:00Z"))
        let sample = Sample(
            metric: .distance, start: start, end: start + .minutes(10), qualifiers: [.activity: "cycling"],
            reading: .count(Increment(count: 2604)))
        // By Python's uuid5 of "ring-1|distance|1795212600000|1795213200000|0|cycling".
        #expect("\(SampleID(device: device, sample: sample))" == "c685c29d-fd0f-5b8e-a346-e72372a26348")
    }

    @Test func `is written as Foundation writes it, and read back`() throws {
        var generator = SplitMix64(seed: 2)
        for _ in 0..<200 {
            let id = SampleID(high: generator.next(), low: generator.next())
            let uuid = try #require(UUID(uuidString: id.description))
            #expect(uuid.uuidString.lowercased() == id.description)
            #expect(SampleID(id.description) == id)
            #expect(SampleID(uuid.uuidString) == id)
            var bytes = Array("id ".utf8)
            id.append(to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "id \(id)")
        }
    }

    @Test(arguments: [
        "", "5f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a1", "5f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a111",
        "5f0c6b0e6d1d5b0a9a530d6a0f4f6a11", "5f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a1g",
        "{f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a1}", "5f0c6b0-e6d1d-5b0a-9a53-0d6a0f4f6a11",
    ])
    func `is not read from another text`(text: String) {
        #expect(SampleID(text) == nil)
    }
}
