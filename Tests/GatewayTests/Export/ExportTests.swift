import Contract
import Foundation
import GatewayKit
import Store
import Testing
import Vitals

@testable import Gateway

/// Exports of a small store with every shape of reading, a correction, a withdrawn record and two people.
@Suite struct ExportTests {
    /// 2026-05-14, 06:00 UTC.
    private static let dawn = Timestamp(seconds: 1_778_738_400)

    private static func moment(_ minutes: Int) -> Timestamp { dawn + .minutes(minutes) }

    /// A store, and whose it is.
    private final class Place {
        let folder: URL
        let household: Household

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "export-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let (home, band) = (try #require(DeviceID("home")), try #require(DeviceID("band-1")))
            let wearers = Wearers(person: "anna", people: [2: "ben"])
            let path = folder.appending(path: "vitals.sqlite").path
            household = Household(
                gateway: home, calendar: try #require(LocalCalendar(identifier: "Europe/Berlin")), store: path,
                devices: [Household.Member(id: band, name: "Anna's band", wearers: wearers)])
            let store = try SQLiteStore(path: path, now: ExportTests.dawn, newIdentity: SampleID(high: 1, low: 2))
            _ = try await store.load(band)
            let identity = DeviceIdentity(manufacturer: "Acme", model: "Band", firmware: "1.2")
            try await store.save([.identity(identity, Capabilities([.heartRate: .monitor]))], of: band)
            for (hour, samples) in [(1, ExportTests.first), (2, ExportTests.second)] {
                let ingest = Ingest(
                    device: band, wearers: wearers, samples: samples, receivedAt: ExportTests.moment(hour * 60)
                ) { _ in IngestOutcome() }
                _ = try await store.ingest(ingest)
            }
            try await store.close()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        var tool: ExportTool { ExportTool(household) }

        func path(_ name: String) -> String { folder.appending(path: name).path }

        /// What an export writes.
        func text(
            _ format: ExportFormat, _ change: (inout ExportTool.Selection) -> Void = { _ in }
        ) throws -> (text: String, result: ExportTool.Result) {
            var selection = ExportTool.Selection()
            change(&selection)
            let file = path("export-\(UUID().uuidString)")
            let result = try tool.export(selection, as: format, to: file, now: ExportTests.moment(120))
            return (try String(contentsOfFile: file, encoding: .utf8), result)
        }
    }

    private static let first = [
        Sample(metric: .heartRate, start: dawn, reading: .value(61)),
        Sample(
            metric: .bloodPressure, start: moment(1), isUserInitiated: true, user: 2,
            reading: .bloodPressure(BloodPressure(systolic: 118.5, diastolic: 76, pulse: 64))),
        Sample(
            metric: .sleep, start: moment(-480), end: moment(-380),
            reading: .sleep(
                Sleep(stages: [
                    Sleep.Stage(.deep, from: moment(-480), to: moment(-450)),
                    Sleep.Stage(.light, from: moment(-450), to: moment(-390)),
                    Sleep.Stage(.awake, from: moment(-390), to: moment(-380)),
                ]))),
        Sample(
            metric: .sport, start: moment(20), end: moment(50),
            reading: .sport(Sport(activity: "=1+\"2\"", distance: 5000, energy: 300))),
        Sample(metric: .steps, start: dawn, end: moment(10), reading: .count(Increment(count: 100))),
    ]

    /// A correction, and more of the same walk.
    private static let second = [
        Sample(metric: .heartRate, start: dawn, reading: .value(62)),
        Sample(metric: .steps, start: dawn, end: moment(15), reading: .count(Increment(count: 412, distance: 300.5))),
    ]

    private func fixture(_ format: ExportFormat) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        return try String(
            contentsOf: folder.appending(path: "export.\(format.rawValue)"), encoding: .utf8)
    }

    // MARK: Formats

    /// `Tests/Campaigns/exports` asks other people's code whether it can read such files.
    @Test(arguments: [ExportFormat.csv, .ndjson, .fhir])
    func `each sample of the store is exported, corrected and withdrawn ones too`(format: ExportFormat) async throws {
        let place = try await Place()
        let (text, result) = try place.text(format) { $0.people = ["anna", "ben"] }
        let expected = try fixture(format)
        #expect(text == expected)
        #expect(result.samples == 6)
        #expect(result.notes == [])
    }

    @Test func `what is withdrawn is no data point, and is counted`() async throws {
        let place = try await Place()
        let (text, result) = try place.text(.openMHealth)
        let expected = try fixture(.openMHealth)
        #expect(text == expected)
        #expect(result.samples == 5)
        #expect(result.notes == ["steps: 1 left out, since another record counts instead."])
    }

    @Test(arguments: [
        ("anna", "anna"), ("", ""), ("a,b", "\"a,b\""), ("say \"a\"", "\"say \"\"a\"\"\""), ("=1", "'=1"),
        ("+1", "'+1"), ("-a", "'-a"), ("@a", "'@a"), ("\ta", "'\ta"), ("\ra", "\"'\ra\""),
        ("\r\na", "\"'\r\na\""), ("＝1", "'＝1"),
        ("a=1", "a=1"), ("\"\u{301}", "\"\"\"\u{301}\""), ("=\"a\",b", "\"'=\"\"a\"\",b\""),
    ])
    func `a text in a table is never a formula, and is read back as one cell`(text: String, cell: String) {
        #expect(SampleRows.cell(text) == cell)
    }

    @Test func `a bundle has only what says something about a person, and says of a maximum that it is one`() throws {
        let home = try #require(DeviceID("home"))
        let scope = ExportScope(
            household: Household(gateway: home, calendar: LocalCalendar(timeZone: .gmt), store: "", devices: []),
            devices: [], people: ["anna"], madeAt: Self.dawn)
        var (writer, bytes) = (BundleWriter(scope), [UInt8]())
        func add(_ sample: Sample, by person: String? = "anna") -> OmittedSample? {
            let stored = StoredSample(sample: sample, of: home, revision: 1, receivedAt: Self.dawn)
            return writer.add(ExportedSample(stored: stored, device: home, person: person), to: &bytes)
        }
        let battery = add(Sample(metric: .battery, start: Self.dawn, reading: .value(50)))
        #expect(battery == .noCode)
        let ofNobody = add(Sample(metric: .heartRate, start: Self.dawn, reading: .value(60)), by: nil)
        #expect(ofNobody == .noCode)
        #expect(bytes.isEmpty)
        let maximum = add(Sample(metric: .heartRate, start: Self.dawn, kind: .maximum, reading: .value(170)))
        #expect(maximum == nil)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#""code":"kind","display":"Kind"}]},"valueString":"maximum""#))
    }

    @Test func `a night without stages says nothing of depths, and a time in bed is no sleep`() throws {
        let home = try #require(DeviceID("home"))
        func points(_ sleep: Sleep) throws -> (fhir: String, point: String) {
            let sample = Sample(metric: .sleep, start: Self.dawn, end: Self.moment(100), reading: .sleep(sleep))
            let stored = StoredSample(sample: sample, of: home, revision: 1, receivedAt: Self.moment(200))
            let item = ExportedSample(stored: stored, device: home, person: "anna")
            let scope = ExportScope(
                household: Household(gateway: home, calendar: LocalCalendar(timeZone: .gmt), store: "", devices: []),
                devices: [], people: ["anna"], madeAt: Self.dawn)
            var (bundle, writer, fhir, point) = (BundleWriter(scope), DataPointWriter(), [UInt8](), [UInt8]())
            let omitted = [bundle.add(item, to: &fhir), writer.add(item, to: &point)]
            #expect(omitted == [nil, nil])
            return (String(decoding: fhir, as: UTF8.self), String(decoding: point, as: UTF8.self))
        }
        let asleep = try points(Sleep(stages: [Sleep.Stage(.asleep, from: Self.dawn, to: Self.moment(90))]))
        #expect(asleep.fhir.contains(#""code":"93832-4","display":"Sleep duration"}]}"#))
        #expect(asleep.fhir.contains(#""valueQuantity":{"value":90,"#) && !asleep.fhir.contains("93831-6"))
        #expect(asleep.point.contains(#""sleep_stage_summary":{"total_sleep_time":{"value":90,"unit":"min"}}"#))
        #expect(asleep.point.contains(#""sleep_stage_state":"Unknown_sleep""#))
        let totals = try points(Sleep(stages: [], untimed: [.deep: 30, .light: 50]))
        let summary =
            #""sleep_stage_summary":{"total_sleep_time":{"value":80,"unit":"min"},"deep_sleep_duration":{"value":30,"unit":"min"},"#
            + #""light_sleep_duration":{"value":50,"unit":"min"}},"effective_time_frame""#
        #expect(totals.point.contains(summary), "\(totals.point)")
        let inBed = try points(Sleep(stages: [Sleep.Stage(.inBed, from: Self.dawn, to: Self.moment(100))]))
        #expect(inBed.point.contains(#""name":"time-in-bed""#))
        #expect(inBed.point.contains(#""body":{"time_in_bed":{"value":100,"unit":"min"},"#))
        #expect(!inBed.fhir.contains("93832-4") && !inBed.fhir.contains("component"))
        let code = #""system":"urn:vitals2mqtt:metric","code":"in_bed_min","display":"Minutes in bed""#
        #expect(inBed.fhir.contains(code) && inBed.fhir.contains(#""value":100,"#), "\(inBed.fhir)")
    }

    @Test func `a count of 24 hours is a number of steps a day`() {
        func code(_ duration: Duration) -> ClinicalCode {
            ClinicalCode.of(
                Sample(
                    metric: .steps, start: Self.dawn, end: Self.dawn + duration, reading: .count(Increment(count: 9000))
                ))
        }
        #expect(code(.days(1)).codings.map(\.code) == ["41950-7"] && code(.days(1)).unit?.code == "{steps}/d")
        // A day on which the clocks are changed.
        #expect(code(.hours(23)).codings.map(\.code) == ["55423-8"] && code(.hours(23)).unit?.code == "{steps}")
    }

    @Test func `every metric has a code, and every code of LOINC has its check digit`() throws {
        var codings: [ClinicalCode.Coding] = []
        for metric in Metric.allCases where metric.shape == .value || metric.shape == .count {
            let words = metric.qualifiers.flatMap { known in known.words.map { [known.qualifier: $0] } }
            let reading = metric.shape == .value ? Reading.value(1) : .count(Increment(count: 1))
            for qualifiers in [[:]] + words {
                let sample = Sample(
                    metric: metric, start: Self.dawn, end: Self.moment(1), qualifiers: qualifiers, reading: reading)
                let code = ClinicalCode.of(sample)
                let unit = try #require(code.unit?.code)
                // An annotation is for what UCUM has no unit for, and all of it is ASCII.
                #expect(
                    !unit.hasPrefix("{") || ["{steps}", "{floors}", "{score}"].contains(unit), "\(metric): \(unit)")
                #expect(unit.utf8.allSatisfy { (33...126).contains($0) }, "\(metric): \(unit)")
                #expect(!code.codings.isEmpty)
                codings += code.codings
            }
        }
        let day = Sample(
            metric: .steps, start: Self.dawn, end: Self.dawn + .days(1), reading: .count(Increment(count: 1)))
        for sample in Self.first + [day] { codings += ClinicalCode.of(sample).codings }
        codings += Sleep.Stage.Depth.allCases.map(ClinicalCode.stage)
        codings += [ClinicalCode.systolic, ClinicalCode.diastolic, ClinicalCode.activity]
        let codes = Set(codings.filter { $0.system == "http://loinc.org" }.map(\.code))
        #expect(
            codes.isSuperset(of: [
                "8867-4", "2708-6", "59408-5", "41950-7", "55423-8", "93832-4", "80404-7", "8302-2", "39156-5",
            ]))
        for code in codes {
            let parts = code.split(separator: "-")
            // The check digit of LOINC is that of Luhn.
            let sum = parts[0].reversed().enumerated().reduce(0) { sum, digit in
                let value = (digit.element.wholeNumberValue ?? 0) * (digit.offset % 2 == 0 ? 2 : 1)
                return sum + value / 10 + value % 10
            }
            #expect("\((10 - sum % 10) % 10)" == parts[1], "\(code)")
        }
    }

    // MARK: Which samples

    @Test func `takes the samples of a person, a metric and a time`() async throws {
        let place = try await Place()
        func count(_ change: (inout ExportTool.Selection) -> Void) throws -> Int {
            try place.text(.ndjson, change).result.samples
        }
        let ben = try count { $0.people = ["ben"] }
        #expect(ben == 1)
        let two = try count { $0.metrics = ["steps", "sleep"] }
        #expect(two == 3)
        // A day of Berlin begins at 22:00 UTC, when the sleep does.
        let day = try count { $0.from = "2026-05-14" }
        #expect(day == 6)
        let awake = try count { $0.from = "2026-05-14T00:00:00.001+02:00" }
        #expect(awake == 5)
        let before = try count { $0.to = "2026-05-14T06:01:00Z" }
        #expect(before == 4)
        let through = try count { $0.to = "2026-05-14" }
        #expect(through == 6)
    }

    @Test func `says what is wrong with a choice, and leaves no file`() async throws {
        let place = try await Place()
        let choices: [(message: String, change: (inout ExportTool.Selection) -> Void)] = [
            ("There is no device ring", { $0.devices = ["ring"] }),
            ("There is no person carl in the configuration. It has anna, ben.", { $0.people = ["carl"] }),
            ("There is no metric pulse", { $0.metrics = ["pulse"] }),
            ("--from takes a day such as", { $0.from = "yesterday" }),
            ("--to takes a day such as", { $0.to = "2026-02-30" }),
            ("--from must be before --to.", { ($0.from, $0.to) = ("2026-05-15", "2026-05-14") }),
            ("Nothing was exported.", { $0.to = "2020-01-01" }),
        ]
        let before = try FileManager.default.contentsOfDirectory(atPath: place.folder.path).sorted()
        for choice in choices {
            let error = #expect(throws: ToolFailure.self) { try place.text(.csv, choice.change) }
            let text = error?.description ?? "no error"
            #expect(text.contains(choice.message), "\(text)")
        }
        let after = try FileManager.default.contentsOfDirectory(atPath: place.folder.path).sorted()
        #expect(after == before)
    }

    @Test func `a bundle needs a person`() async throws {
        let place = try await Place()
        let error = #expect(throws: ToolFailure.self) { try place.text(.fhir) }
        #expect(error?.description == "--format fhir needs --person: each value is one of a patient.")
    }

    // MARK: The file

    @Test func `the file is its owner's alone, and one that is there is not replaced`() async throws {
        let place = try await Place()
        let file = place.path("a.csv")
        try "of yesterday".write(toFile: file + ".part", atomically: false, encoding: .utf8)
        let result = try place.tool.export(ExportTool.Selection(), as: .csv, to: file)
        #expect(result.samples == 6)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(!FileManager.default.fileExists(atPath: file + ".part"))
        let error = #expect(throws: ToolFailure.self) {
            try place.tool.export(ExportTool.Selection(), as: .csv, to: file)
        }
        #expect(error?.description.contains("exists. Name a new file, or remove that one.") == true)
        let missing = #expect(throws: ToolFailure.self) {
            try place.tool.export(ExportTool.Selection(), as: .csv, to: place.path("none/a.csv"))
        }
        #expect(missing?.description.contains("does not exist. Create it") == true)
    }

    @Test func `the configuration says whose samples are whose, whatever else it has`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "export-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let more = folder.appending(path: "more")
        try FileManager.default.createDirectory(at: more, withIntermediateDirectories: true)
        try "{id: cuff, people: {1: anna, 2: ben}, driver: none}".write(
            to: more.appending(path: "cuff.yaml"), atomically: false, encoding: .utf8)
        let file = folder.appending(path: "c.yaml")
        try """
        gateway: {id: flat, timezone: Europe/Berlin}
        mqtt: {password: {file: /run/nowhere}}
        store: {path: s.sqlite}
        devices: [{id: band-1, name: Band, person: anna, driver: unknown}]
        devices_from: more

        """.write(to: file, atomically: false, encoding: .utf8)
        let household = try ConfigurationLoader.household(in: file.path)
        #expect(household.gateway.text == "flat")
        #expect(household.calendar.identifier == "Europe/Berlin")
        #expect(household.store.hasSuffix("/s.sqlite"))
        #expect(household.devices.map(\.id.text) == ["band-1", "cuff"])
        #expect(household.devices.map(\.name) == ["Band", "cuff"])
        #expect(household.people == ["anna", "ben"])
        try "devices: [{id: A}]".write(to: file, atomically: false, encoding: .utf8)
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationLoader.household(in: file.path) }
        #expect(error?.issues.map(\.path) == ["devices[0].id"])
    }
}
