import TestSupport
import Testing
import Vitals

@testable import Phones

/// Whatever the order, the overlap and the repetition of documents, a consumer ends with the same samples. Documents are made of what a
/// watch, a phone and a scale have counted in a night in which the clocks change, and compared with the rule of the contract, which is
/// written here once more in its simplest form.
@Suite struct DocumentOrderTests {
    /// What a source has counted, or a heart rate where there is no length.
    private struct Entry: Hashable {
        /// From 0, the one that counts first.
        var source: Int
        var start: Timestamp
        var minutes: Int?
        var number: Int

        static let names = ["Anna's Watch", "iPhone", "Scale"]
        var end: Timestamp { start + .minutes(minutes ?? 0) }

        /// As Health Auto Export writes it, in one of the zones in which the phone may be.
        func exported(_ random: inout SplitMix64) -> String {
            let (zone, hours) =
                [("+0000", 0), ("+0200", 2), ("-0730", -7)].randomElement(using: &random) ?? ("+0000", 0)
            let shift: Duration = .hours(hours) - (hours < 0 ? .minutes(30) : .zero)
            func text(_ moment: Timestamp) -> String {
                (moment + shift).description.replacing("T", with: " ").replacing(".000Z", with: " \(zone)")
            }
            let source = "\"source\":\"\(Self.names[source])\""
            return minutes == nil
                ? "{\"date\":\"\(text(start))\",\"Avg\":\(number),\(source)}"
                : "{\"start\":\"\(text(start))\",\"end\":\"\(text(end))\",\"qty\":\(number).5,\(source)}"
        }

        /// As HC Webhook writes it.
        var posted: String {
            let device = "\"device\":{\"model\":\"\(Self.names[source])\"}"
            let metadata = "\"metadata\":{\"data_origin\":\"com.fit\",\(device)}"
            return minutes == nil
                ? "{\"time\":\"\(start)\",\"bpm\":\(number),\(metadata)}"
                : "{\"start_time\":\"\(start)\",\"end_time\":\"\(end)\",\"count\":\(number),\(metadata)}"
        }

        /// As a script writes it.
        var scripted: String {
            let source = "\"source\":\"\(Self.names[source])\""
            return minutes == nil
                ? "{\"metric\":\"heart_rate\",\"value\":\(number),\"time\":\"\(start)\",\(source)}"
                : "{\"metric\":\"steps\",\"value\":\(number),\"start\":\"\(start)\",\"end\":\"\(end)\",\(source)}"
        }
    }

    /// What all sources have of six hours.
    private static func night(_ start: Timestamp, _ random: inout SplitMix64) -> [Entry] {
        var entries: [Entry] = []
        for (source, length) in [1, 15, 60].enumerated() {
            for place in 0..<(360 / length) where Int.random(in: 0..<3, using: &random) > 0 {
                // Not every record lies on the grid of the others.
                let begin = start + .minutes(place * length) + .seconds(source * 20)
                entries.append(
                    Entry(
                        source: source, start: begin, minutes: length, number: Int.random(in: 1...200, using: &random)))
            }
            for _ in 0..<30 {
                let moment = start + .minutes(Int.random(in: 0..<360, using: &random))
                let rate = Entry(source: source, start: moment, minutes: nil, number: 50 + source)
                if !entries.contains(rate) { entries.append(rate) }
            }
        }
        return entries
    }

    /// The samples of a document of these entries.
    private static func samples(
        _ entries: [Entry], isExported: Bool, _ random: inout SplitMix64
    ) throws -> [Sample] {
        let (counts, rates) = (entries.filter { $0.minutes != nil }, entries.filter { $0.minutes == nil })
        guard isExported else {
            let lists = [("steps", counts), ("heart_rate", rates)].map { name, list in
                "\"\(name)\":[\(list.map(\.posted).joined(separator: ","))]"
            }
            return try Phone.records(Array("{\(lists.joined(separator: ","))}".utf8), of: HealthConnectWebhook.self)
                .samples
        }
        var lists: [String] = []
        for (name, list) in [("step_count", counts), ("heart_rate", rates)] {
            var texts: [String] = []
            for entry in list { texts.append(entry.exported(&random)) }
            lists.append("{\"name\":\"\(name)\",\"data\":[\(texts.joined(separator: ","))]}")
        }
        let text = "{\"data\":{\"metrics\":[\(lists.joined(separator: ","))]}}"
        return try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
    }

    /// The rule: a count counts unless an earlier source has one in the same time.
    private static func counted(_ entries: Set<Entry>) -> [Timestamp: [Int]] {
        let counts = entries.filter { $0.minutes != nil }
        let holding = counts.filter { entry in
            !counts.contains { $0.source < entry.source && $0.start < entry.end && entry.start < $0.end }
        }
        return Dictionary(grouping: holding, by: \.start).mapValues { $0.map(\.number).sorted() }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `documents end in the same samples in any order`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let isExported = seed % 2 == 0
        let all = Self.night(Phone.at(seed % 4 < 2 ? "2026-03-28T22:00:00Z" : "2026-10-24T22:00:00Z"), &random)
        var sent: Set<Entry> = []
        var documents: [[Sample]] = []
        for _ in 0..<25 {
            let entries = Array(all.shuffled(using: &random).prefix(Int.random(in: 1...60, using: &random)))
            sent.formUnion(entries)
            documents.append(try Self.samples(entries, isExported: isExported, &random))
        }
        let device = try #require(DeviceID("phone"))
        let rule = isExported ? HealthAutoExport.overlaps : HealthConnectWebhook.overlaps
        let (first, second) = (try ConsumedStore(rule, device: device), try ConsumedStore(rule, device: device))
        for document in documents { try await first.ingest(document) }
        for document in (documents + documents.prefix(10)).shuffled(using: &random) {
            try await second.ingest(document)
        }
        #expect(first.held == second.held)

        let wanted = Self.counted(sent)
        let half = isExported ? 0.5 : 0
        let found = Dictionary(grouping: first.held(.steps), by: \.start)
            .mapValues { $0.compactMap(\.value).map { Int($0 - half) }.sorted() }
        #expect(found == wanted)
        let rates = sent.filter { $0.minutes == nil }
        #expect(first.held(.heartRate).count == rates.count)
        #expect(Set(first.held(.heartRate).map { [$0.start.description, "\($0.value ?? 0)"] }).count == rates.count)
        // Sent once more, nothing changes.
        for document in documents {
            #expect(try await first.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn })
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `a script's documents end in the same samples in any order, too`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let all = Self.night(Phone.at("2026-10-24T22:00:00Z"), &random)
        var sent: Set<Entry> = []
        var documents: [[Sample]] = []
        for _ in 0..<15 {
            let entries = Array(all.shuffled(using: &random).prefix(Int.random(in: 1...60, using: &random)))
            sent.formUnion(entries)
            let text = "{\"samples\":[\(entries.map(\.scripted).joined(separator: ","))]}"
            documents.append(try Phone.records(Array(text.utf8), of: ScriptDocument.self).samples)
        }
        let device = try #require(DeviceID("script"))
        let first = try ConsumedStore(ScriptDocument.overlaps, device: device)
        let second = try ConsumedStore(ScriptDocument.overlaps, device: device)
        for document in documents { try await first.ingest(document) }
        for document in (documents + documents.prefix(5)).shuffled(using: &random) {
            try await second.ingest(document)
        }
        #expect(first.held == second.held)
        let found = Dictionary(grouping: first.held(.steps), by: \.start)
            .mapValues { $0.compactMap(\.value).map { Int($0) }.sorted() }
        #expect(found == Self.counted(sent))
        for document in documents {
            #expect(try await first.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn })
        }
    }
}
