import Foundation
import Testing
import Vitals

@testable import Phones

/// Exports that are cut, damaged or hostile: nothing that was good is lost.
@Suite struct BrokenExportTests {
    private static func weights(_ count: Int) -> [String] {
        (0..<count).map {
            HealthFile.record(
                "BodyMass", "\(70 + $0 % 10)", String(format: "%02d:%02d:00", $0 / 60, $0 % 60), unit: "kg")
        }
    }

    @Test func `of a cut archive all that is there is read, and the message says so`() throws {
        // Of random times, which do not pack to nothing.
        var random = SystemRandomNumberGenerator()
        let elements = (0..<20_000).map { _ in
            HealthFile.record(
                "HeartRate", "\(Int.random(in: 50...180, using: &random))",
                String(
                    format: "%02d:%02d:%02d", Int.random(in: 0..<24), Int.random(in: 0..<60), Int.random(in: 0..<60)),
                unit: "count/min")
        }
        let whole = HealthFile.zip(HealthFile.xml(elements))
        let found = try HealthFile.read(Array(whole[..<(whole.count / 2)]))
        #expect((6_000..<14_000).contains(found.samples.count), "\(found.samples.count)")
        #expect(found.problem?.contains("is cut") == true, "\(found.problem ?? "")")
        var damaged = whole
        for place in whole.count / 2..<whole.count / 2 + 40 { damaged[place] ^= 0x5a }
        #expect(try HealthFile.read(damaged).problem?.contains("is damaged") == true)
    }

    @Test func `XML that ends in the middle is read so far`() throws {
        let found = try HealthFile.read(
            Array((HealthFile.xml(Self.weights(10), isWhole: false) + " <Record type=\"HKQ").utf8))
        #expect(found.samples.count == 10)
        #expect(found.problem?.contains("ends in the middle") == true)
    }

    @Test func `one broken record costs that record`() throws {
        let good = Self.weights(6)
        let broken = [
            " <Record type=\"HKQuantityTypeIdentifierBodyMass\" value=\"1>",
            " <Record type=HKQuantityTypeIdentifierBodyMass/>",
            " <Record type=\"a\" type=\"b\"/>",
            " <Record type=\"HKQuantityTypeIdentifierBodyMass\" sourceName=\"&who;\"/>",
            " <Record type=\"HKQuantityTypeIdentifierBodyMass\" value=\"70\">", " <Record type=\"x\"></Workout>",
            " <Record <Record", " <![CDATA[ <Record ", " </Correlation>", " <!-- <Record",
        ]
        for text in broken {
            let found = try HealthFile.read(HealthFile.zip(HealthFile.xml(good[..<3] + [text] + good[3...])))
            #expect(found.samples.map(\.value) == [70, 71, 72, 73, 74, 75], "\(text)")
            #expect(
                found.damage["malformed"] ?? 0 >= 1 && found.problem == nil,
                "\(text): \(found.damage) \(found.problem ?? "")")
        }
    }

    @Test func `characters that XML forbids become spaces, and are counted`() throws {
        let found = try HealthFile.read([
            HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg", source: "A\u{0B}B\u{01}"),
            HealthFile.record("BodyMass", "71", "11:00:00", unit: "kg", source: "A"),
        ])
        #expect(found.samples.map(\.origin?.name) == ["A B ", "A"] && found.damage == ["forbidden_character": 2])
    }

    @Test func `the document type is not read, whatever it declares`() throws {
        let bomb = """
            <!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
            <!ENTITY file SYSTEM "file:///etc/passwd"><!ELEMENT broken ((((>
            """
        let xml = HealthFile.xml(
            [
                HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg", source: "&c;"),
                HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg", source: "&file;"),
                HealthFile.record("BodyMass", "71", "11:00:00", unit: "kg"),
            ], prolog: bomb)
        let found = try HealthFile.read(HealthFile.zip(xml))
        #expect(found.samples.map(\.value) == [71] && found.damage == ["malformed": 2])
    }

    @Test func `times without a zone are refused, with what to do`() throws {
        let found = try HealthFile.read([
            HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg", zone: ""),
            HealthFile.record("StepCount", "70", "10:00:00", "10:01:00", unit: "count", zone: ""),
            HealthFile.record("BodyMass", "71", "11:00:00", unit: "kg"),
        ])
        #expect(found.samples.map(\.value) == [71])
        #expect(found.refused.values.sorted() == [1, 1])
        #expect(found.refused.keys.allSatisfy { $0.contains("without a zone") && $0.contains("export again") })
    }

    @Test func `a tag of 64 KiB is read, and a longer one is skipped and counted`() throws {
        for (length, values) in [
            (ElementParser.longestTag - 500, [70.0, 71, 72]), (ElementParser.longestTag + 500, [70, 72]),
        ] {
            let elements = [
                HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg"),
                HealthFile.record(
                    "BodyMass", "71", "11:00:00", unit: "kg", source: String(repeating: "x", count: length)),
            ]
            // The end of the long tag comes in another piece.
            let filler = String(repeating: " \n", count: ExportBytes.piece / 2 - 1_000)
            let last = HealthFile.record("BodyMass", "72", "12:00:00", unit: "kg")
            let found = try HealthFile.read(HealthFile.zip(HealthFile.xml([filler] + elements + [last])))
            #expect(found.samples.map(\.value) == values, "\(length)")
            #expect(found.damage["too_long"] == (values.count == 3 ? nil : 1), "\(found.damage)")
        }
    }

    @Test func `without its root within a megabyte a file is another app's`() throws {
        let long =
            "<?xml version=\"1.0\"?>" + String(repeating: " ", count: ElementParser.longestProlog + ExportBytes.piece)
        for text in ["<html></html>", long + HealthFile.xml(Self.weights(1))] {
            #expect(try HealthFile.read(Array(text.utf8)).problem?.contains("no export of Apple Health") == true)
        }
        let found = try HealthFile.read(
            Array((String(repeating: " ", count: 500_000) + HealthFile.xml(Self.weights(1))).utf8))
        #expect(found.samples.count == 1)
        #expect(throws: ExportError.self) {
            try HealthFile.read(ZipFile(entries: [.init(name: "a/b/c.xml", content: [1])]).bytes)
        }
    }

    @Test func `five hundred types are counted apart, and further ones together`() throws {
        let elements = (0..<AppleExport.maximumNames + 3).map { HealthFile.record("Strange\($0)", "1", "10:00:00") }
        let found = try HealthFile.read(elements)
        #expect(found.leftOut.count == AppleExport.maximumNames + 1 && found.leftOut["others"] == 3)
    }

    @Test func `a workout has a hundred statistics at most`() throws {
        let many = (0..<AppleRecord.maximumParts).map { "<WorkoutStatistics type=\"Strange\($0)\" sum=\"1\"/>" }
        let energy = "<WorkoutStatistics type=\"HKQuantityTypeIdentifierActiveEnergyBurned\" sum=\"3\" unit=\"kcal\"/>"
        let times = #"startDate="2026-06-12 10:00:00 +0200" endDate="2026-06-12 10:30:00 +0200""#
        for (parts, expected) in [([energy] + many, 3.0), (many + [energy], nil)] {
            let found = try HealthFile.read([
                "<Workout workoutActivityType=\"HKWorkoutActivityTypeYoga\" \(times)>\(parts.joined())</Workout>"
            ])
            #expect(found.samples.map(\.reading) == [.sport(Sport(activity: "yoga", energy: expected))])
        }
    }

    @Test func `nights beyond the most stages come before the end`() throws {
        let folder = try Folder()
        let stage = HealthFile.record("SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore", "02:00:00", "02:01:00")
        let stages = Array(repeating: stage, count: AppleExport.maximumStages)
        let bytes = Array(HealthFile.xml(stages + Array(repeating: "<Audiogram/>", count: 100_000)).utf8)
        let export = AppleExport(try ExportBytes(try folder.write(bytes, as: "export.xml")))
        while export.next() == nil, !export.isAtEnd {}
        #expect(!export.isAtEnd && export.share < 1)
    }

    @Test func `reading goes on from any position that was reached, and nothing is missing`() throws {
        let night = (0..<40).map {
            HealthFile.record(
                "SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore", String(format: "02:%02d:00", $0),
                String(format: "02:%02d:00", $0 + 1))
        }
        let many = (0..<12_000).map {
            HealthFile.record(
                "HeartRate", "\(50 + $0 % 100)", String(format: "%02d:%02d:%02d", $0 / 3600, $0 / 60 % 60, $0 % 60),
                unit: "count/min")
        }
        let bytes = HealthFile.zip(HealthFile.xml(Array(many[..<5_000]) + night + Array(many[5_000...])))
        let all = try HealthFile.read(bytes)
        #expect(all.samples.count == 12_001 && all.positions.count > 5)
        for position in all.positions.dropLast() {
            let rest = try HealthFile.read(bytes, from: position)
            #expect(rest.samples == Array(all.samples.suffix(rest.samples.count)) && rest.problem == nil)
            // What was given before the position is given again at most as a part of a piece.
            #expect(rest.samples.contains { $0.metric == .sleep } || position > Int64(5_040 * 230))
        }
        #expect(try HealthFile.read(bytes, from: all.positions.last ?? 0).samples.isEmpty)
    }
}
