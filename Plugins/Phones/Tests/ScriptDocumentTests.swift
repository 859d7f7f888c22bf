import Foundation
import GatewayKit
import JSON
import TestSupport
import Testing
import Vitals

@testable import Phones

/// The documents of anybody's script, by what the parser takes and by the schema that is shipped.
@Suite struct ScriptDocumentTests {
    /// What becomes of the entries of a document: what counts, and by its path why an entry is refused.
    private struct Found {
        var samples: [Sample] = []
        var alerts: [DeviceAlert] = []
        var refused: [String: String] = [:]
        var skipped: [String] = []

        init(_ document: [UInt8]) throws {
            var stream = try ScriptDocument.records(of: document, calendar: Phone.berlin, source: nil)
            while let record = try stream.next() {
                let path = stream.path ?? ""
                switch record {
                case .sample(let sample):
                    if let violation = sample.writtenViolation {
                        refused["\(path).\(violation.path)"] = violation.message
                    } else {
                        samples.append(sample)
                    }
                case .alert(let alert): alerts.append(alert)
                case .battery: break
                case .refused(let member, let reason):
                    refused[member.isEmpty ? path : "\(path).\(member)"] = reason
                case .nothing(_, let reason): skipped += reason.map { [$0] } ?? []
                case .skipped(let reason): skipped.append(reason)
                }
            }
        }
    }

    private static func cases() throws -> [JSONValue] {
        try JSONValue(parsing: Phone.document("script-cases.json")).asArray ?? []
    }

    @Test func `the samples of a script's document are those worked out by hand`() throws {
        let found = try Found(Phone.document("script.json"))
        let at = Phone.at
        let morning = at("2026-06-12T05:00:00Z")
        func value(
            _ metric: Metric, _ start: Timestamp, _ value: Double, _ qualifiers: [Qualifier: String] = [:]
        ) -> Sample { Sample(metric: metric, start: start, qualifiers: qualifiers, reading: .value(value)) }
        func pressure(_ start: Timestamp, _ pressure: BloodPressure) -> Sample {
            Sample(metric: .bloodPressure, start: start, reading: .bloodPressure(pressure))
        }
        var rate = value(.heartRate, morning, 58.5)
        rate.end = at("2026-06-12T05:05:00Z")
        let stages = [
            Sleep.Stage(.light, from: at("2026-06-11T21:00:00Z"), to: at("2026-06-11T23:00:00Z")),
            Sleep.Stage(.deep, from: at("2026-06-11T23:00:00Z"), to: at("2026-06-12T00:00:00Z")),
        ]
        let expected: [Sample] = [
            // 157 lb are 71.214 kg; 16 and 10.5 kPa are 120.01 and 78.756 mmHg; 5.5 mmol/L are 99.088 mg/dL.
            value(.weight, morning, 71.2), value(.weight, at("2026-06-11T05:00:00Z"), 71.214),
            pressure(morning, BloodPressure(systolic: 121, diastolic: 79, pulse: 62)),
            pressure(at("2026-06-12T05:01:00Z"), BloodPressure(systolic: 120.01, diastolic: 78.756)),
            value(.heartRate, at("2026-06-12T05:00:00.250Z"), 62), rate, value(.temperature, morning, 37),
            value(.bloodOxygen, at("2026-06-12T05:00:00.500Z"), 97),
            value(.bloodGlucose, morning, 99.088, [.meal: "fasting"]),
            value(.heartRateVariability, at("2026-06-12T01:00:00Z"), 42, [.statistic: "rmssd"]),
            value(.stress, morning, 33),
            Sample(
                metric: .steps, start: morning, end: at("2026-06-12T05:15:00Z"), reading: .count(Increment(count: 512))),
            Sample(
                metric: .distance, start: morning, end: at("2026-06-12T05:15:00Z"),
                qualifiers: [.activity: "walking_running"], reading: .count(Increment(count: 1207, thousandths: 8))),
            Sample(
                metric: .hydration, start: morning, end: morning, reading: .count(Increment(count: 250))),
            value(.bodyFat, morning, 21.5),
            Sample(
                metric: .sleep, start: at("2026-06-11T21:00:00Z"), end: at("2026-06-12T04:00:00Z"),
                reading: .sleep(Sleep(stages: stages))),
            Sample(
                metric: .sport, start: at("2026-06-12T06:00:00Z"), end: at("2026-06-12T06:40:00Z"),
                reading: .sport(
                    Sport(
                        activity: "outdoor_run", distance: 8046.72, energy: 358.509, steps: 6400, minimumHeartRate: 95,
                        averageHeartRate: 141.5, maximumHeartRate: 172))),
        ]
        for (sample, wanted) in zip(found.samples, expected) { #expect(sample == wanted) }
        #expect(found.samples.count == expected.count)
        #expect(found.refused == [:] && found.skipped == [])
        let alert = DeviceAlert(
            rule: AlertRule(.heartRate, .resting, .high), edge: .raised, value: 121, at: at("2026-06-12T05:30:00Z"))
        let warning = DeviceAlert(
            rule: AlertRule(.highHeartRate), edge: .raised, value: 131, limit: 120, at: at("2026-06-12T05:40:00Z"))
        #expect(found.alerts == [alert, warning])
        // An entry's own source, else the document's.
        let names = found.samples.map { $0.origin?.name }
        #expect(names.prefix(3) == ["Scale", "Scale", "Anna's Watch"])
    }

    @Test func `each document of a table is taken or refused, with the path and the reason`() throws {
        let cases = try Self.cases()
        #expect(cases.count > 80)
        for row in cases {
            let about = row["about"]?.asString ?? ""
            let text = row["text"]?.asString.map { Array($0.utf8) } ?? row["document"]?.bytes ?? []
            let found: Found
            do { found = try Found(text) } catch let problem as DocumentProblem {
                let wanted = row["unreadable"]?.asString
                #expect(wanted.map { problem.message.contains($0) } == true, "\(about): \(problem.message)")
                continue
            }
            #expect(row["unreadable"]?.asString == nil, "\(about) is readable")
            #expect(found.samples.count + found.alerts.count == row["taken"]?.asInt, "\(about)")
            let wanted = row["refused"]?.asObject ?? []
            #expect(Set(found.refused.keys) == Set(wanted.map(\.key)), "\(about): \(found.refused)")
            for member in wanted {
                let reason = found.refused[member.key] ?? ""
                #expect(reason.contains(member.value.asString ?? "?"), "\(about): \(reason)")
            }
        }
    }

    @Test func `the shipped schema allows what the table says, and nothing that is refused for its form`() throws {
        let check = try SchemaCheck()
        #expect(check.unknown == [])
        for row in try Self.cases() {
            let document = try row["text"]?.asString.map { try JSONValue(parsing: Array($0.utf8)) } ?? row["document"]
            #expect(document.map { check.accepts($0) } == row["valid"]?.asBool, "\(row)")
        }
        let example = try JSONValue(parsing: Phone.document("script.json"))
        #expect(check.accepts(example))
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `whatever is taken of a damaged document, the schema allows`(seed: UInt64) throws {
        let check = try SchemaCheck()
        let whole = try Phone.document("script.json")
        var random = SplitMix64(seed: seed)
        var (taken, refused) = (0, 0)
        for _ in 0..<400 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...2, using: &random) { Damage.json(&bytes, keepsGrammar: true, &random) }
            guard let document = try? JSONValue(parsing: bytes) else { continue }
            guard let found = try? Found(bytes), found.refused.isEmpty else {
                refused += 1
                continue
            }
            taken += 1
            #expect(check.accepts(document), "\(document)")
        }
        // Both sides were tried.
        #expect(taken > 20 && refused > 20, "\(taken) \(refused)")
    }

    @Test func `the schema has every metric, unit, word and rule of the gateway`() throws {
        let check = try SchemaCheck()
        func words(_ value: JSONValue?) -> Set<String> { Set((value?["enum"]?.asArray ?? []).compactMap(\.asString)) }
        func members(_ part: JSONValue) -> Set<String> { Set((part["properties"]?.asObject ?? []).map(\.key)) }
        let sample = check.part("sample")
        let metrics = ScriptDocument.metrics.filter { $0.shape != .sleep && $0.shape != .session }
        #expect(words(sample["properties"]?["metric"]) == Set(metrics.map(\.rawValue)))
        for metric in metrics {
            let branch = (sample["allOf"]?.asArray ?? []).first { branch in
                branch["then"]?["properties"]?["unit"] != nil
                    && words(branch["if"]?["properties"]?["metric"]).contains(metric.rawValue)
            }
            let units = words(branch?["then"]?["properties"]?["unit"])
            #expect(units == Set(ValueUnit.names(in: metric.unit)), "\(metric)")
        }
        for metric in metrics {
            for qualifier in metric.qualifiers {
                #expect(words(sample["properties"]?[qualifier.qualifier.rawValue]) == Set(qualifier.words))
            }
        }
        let intervals = (sample["allOf"]?.asArray ?? []).first { $0["then"]?["required"]?[0]?.asString == "start" }
        let counted = Set(metrics.filter(\.isInterval).map(\.rawValue))
        #expect(words(intervals?["if"]?["properties"]?["metric"]) == counted)
        #expect(words(check.part("workout")["properties"]?["distance_unit"]) == Set(ValueUnit.names(in: "m")))
        #expect(words(check.part("workout")["properties"]?["energy_unit"]) == Set(ValueUnit.names(in: "kcal")))
        #expect(
            words(check.part("alert")["properties"]?["rule"]) == Set((AlertRule.all + AlertRule.warnings).map(\.name)))
        let warnings = check.part("alert")["if"]?["properties"]?["rule"]
        #expect(words(warnings) == Set(AlertRule.warnings.map(\.name)))
        let depths = Set(Sleep.Stage.Depth.allCases.map(\.rawValue))
        #expect(words(check.part("stage")["properties"]?["stage"]) == depths)
        #expect(members(check.part("minutes")) == depths)
        for (list, part) in zip(ScriptList.allCases, ["sample", "sleep", "workout", "alert"]) {
            #expect(list.members == members(check.part(part)))
        }
    }

    @Test(
        arguments: [
            ("", [.asleep: 360]),
            (#","minutes":{"deep":60,"rem":90.0,"awake":"15"}"#, [.deep: 60, .rem: 90, .awake: 15]),
            (#","stages":[{"stage":"in_bed","start":0,"end":21600}]"#, [.inBed: 360]),
            (
                #","stages":[{"stage":"deep","start":0,"end":3600}],"minutes":{"light":200}"#,
                [.deep: 60, .light: 200]
            ),
        ] as [(String, [Sleep.Stage.Depth: Int])])
    func `of a sleep without stages its times or its minutes are taken`(
        members: String, minutes: [Sleep.Stage.Depth: Int]
    ) throws {
        let text = #"{"sleeps":[{"start":0,"end":21600\#(members)}]}"#
        let found = try Found(Array(text.utf8))
        #expect(found.refused == [:])
        guard case .sleep(let sleep)? = found.samples.first?.reading else {
            Issue.record("no sleep")
            return
        }
        for depth in Sleep.Stage.Depth.allCases { #expect(sleep.minutes(depth) == minutes[depth] ?? 0) }
    }

    @Test func `a text of a thousand bytes is read, and a longer one is refused`() throws {
        func refused(_ count: Int) throws -> [String: String] {
            // With its quotation marks.
            let name = String(repeating: "a", count: count - 2)
            let times = #""start":1781240400,"end":1781244000"#
            return try Found(Array("{\"workouts\":[{\"activity\":\"\(name)\",\(times)}]}".utf8)).refused
        }
        #expect(try refused(PhoneLimits.text) == [:])
        #expect(try refused(PhoneLimits.text + 1).keys.sorted() == ["workouts[0].activity"])
    }

    @Test func `a document that comes again changes nothing, and another value of the same moment is a correction`()
        async throws
    {
        let device = try #require(DeviceID("script"))
        let store = try ConsumedStore(ScriptDocument.overlaps, device: device)
        let first = try Found(Phone.document("script.json")).samples
        let corrected = #"{"source":"Scale","samples":[{"metric":"weight","value":71.5,"time":1781240400}]}"#
        let second = try Found(Array(corrected.utf8)).samples
        #expect(try await store.ingest(first).allSatisfy { $0 == .new })
        #expect(try await store.ingest(first).allSatisfy { $0 == .known })
        #expect(try await store.ingest(second) == [.corrected])
        let held = store.held
        for document in [second, second] { #expect(try await store.ingest(document) == [.known]) }
        #expect(store.held == held)
    }

    @Test func `a part of an hour does not count beside the hour, and the same hour with fewer steps is a correction`()
        async throws
    {
        let store = try ConsumedStore(ScriptDocument.overlaps, device: try #require(DeviceID("script")))
        func steps(_ entries: (value: Int, minutes: Int)...) throws -> [Sample] {
            let start = 1_781_240_400
            let list = entries.map {
                #"{"metric":"steps","value":\#($0.value),"start":\#(start),"end":\#(start + $0.minutes * 60)}"#
            }
            return try Found(Array(#"{"samples":[\#(list.joined(separator: ","))]}"#.utf8)).samples
        }
        #expect(try await store.ingest(steps((600, 60))) == [.new])
        for _ in 0..<2 {
            let novelties = try await store.ingest(steps((10, 1)))
            #expect(novelties == [.withdrawn] || novelties == [.known])
            #expect(store.held(.steps).map(\.value) == [600])
        }
        // Both in one document, in either order, change nothing.
        let both = try steps((10, 1), (600, 60)) + steps((600, 60), (10, 1))
        try await store.ingest(both)
        #expect(store.held(.steps).map(\.value) == [600])
        #expect(try await store.ingest(steps((550, 60))) == [.corrected])
        #expect(store.held(.steps).map(\.value) == [550])
        let stored = try await store.stored(.steps)
        #expect(stored.map(\.value) == [550])
    }

    @Test func `a night that ends earlier than was said before is a correction, also without stages`() async throws {
        let store = try ConsumedStore(ScriptDocument.overlaps, device: try #require(DeviceID("script")))
        for hours in [8, 6] {
            let text = #"{"sleeps":[{"start":1781200800,"end":\#(1_781_200_800 + hours * 3600)}]}"#
            #expect(try await store.ingest(Found(Array(text.utf8)).samples) == [.new])
            #expect(store.held(.sleep).map { $0.duration } == [.hours(hours)])
        }
    }

    @Test func `steps of several sources have their order, by the options and by what the sources are`() throws {
        func entry(_ source: String) -> String {
            #"{"metric":"steps","value":9,"start":1781240400,"end":1781241300,"source":"\#(source)"}"#
        }
        let text = #"{"samples":[\#(entry("My iPhone")),\#(entry("Oura")),\#(entry("My Watch"))]}"#
        let found = try Phone.records(
            Array(text.utf8), of: ScriptDocument.self, order: SourceOrder(["Oura"]))
        let order = found.samples.compactMap(\.origin).sorted { $0.precedes($1) }
        #expect(order.map(\.name) == ["Oura", "My Watch", "My iPhone"])
        let one = try Phone.records(Array(text.utf8), of: ScriptDocument.self, source: "Oura")
        #expect(one.samples.count == 1)
        #expect(one.skipped == ["steps of another source: My iPhone": 1, "steps of another source: My Watch": 1])
    }

    @Test func `every document on the page is taken whole`() throws {
        let file = Phone.folder.appending(path: "../../../docs/YourOwnScript.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let check = try SchemaCheck()
        let blocks = page.matches(of: /```json\n([\s\S]*?)\n```/).map { Array($0.1.utf8) }
        #expect(!blocks.isEmpty)
        for block in blocks where String(decoding: block, as: UTF8.self).contains("\"metric\"") {
            let found = try Found(block)
            #expect(found.refused == [:] && found.skipped == [] && !found.samples.isEmpty)
            let document = try JSONValue(parsing: block)
            #expect(check.accepts(document))
        }
        // What Tasker puts into its body.
        let template = try #require(page.firstMatch(of: /```\n(\{.*%input.*\})\n```/)).1
        let body = template.replacing("%input", with: "71.2").replacing("%TIMES", with: "1781240400")
        let found = try Found(Array(body.utf8))
        let document = try JSONValue(parsing: Array(body.utf8))
        #expect(found.samples.map(\.value) == [71.2] && found.refused == [:] && check.accepts(document))
    }
}
