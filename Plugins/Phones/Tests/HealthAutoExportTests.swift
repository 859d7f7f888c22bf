import Foundation
import Testing
import Vitals

@testable import Phones

/// The samples of a document, worked out by hand.
@Suite struct HealthAutoExportTests {
    private func samples(_ metric: Metric) throws -> [Sample] {
        try Phone.records(Phone.document("health-auto-export.json"), of: HealthAutoExport.self).samples
            .filter { $0.metric == metric }
    }

    private func values(_ metric: Metric) throws -> [String: Double] {
        Dictionary(
            try samples(metric).map { ($0.start.description, $0.value ?? -1) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `a heart rate is the average of its interval, at its beginning`() throws {
        #expect(
            try values(.heartRate) == [
                "2026-01-05T22:30:00.000Z": 72.5, "2026-01-05T22:31:00.000Z": 74, "2026-01-05T22:32:00.250Z": 75,
            ])
        #expect(try samples(.heartRate).allSatisfy { $0.start == $0.end && $0.kind == .normal })
    }

    @Test func `units become the gateway's`() throws {
        #expect(try values(.bloodOxygen) == ["2026-01-05T02:10:00.000Z": 97, "2026-01-05T02:20:00.000Z": 96])
        #expect(try values(.temperature) == ["2026-01-05T07:05:00.000Z": 37])
        // 154.3 lb × 0.45359237 = 69.98930… kg; 5.5 mmol/L × 18.016 = 99.088 mg/dL.
        #expect(try values(.weight) == ["2026-01-05T07:06:00.000Z": 69.989])
        #expect(try values(.bloodGlucose) == ["2026-01-05T07:07:00.000Z": 99.1])
        #expect(try values(.respiratoryRate) == ["2026-01-05T02:30:00.000Z": 14.5])
        #expect(try values(.skinTemperature) == ["2026-01-05T04:00:00.000Z": 35.1])
        #expect(try samples(.heartRateVariability).map(\.qualifiers) == [[.statistic: "sdnn"]])
        #expect(try samples(.bloodGlucose).map(\.qualifiers) == [[.meal: "before"]])
        #expect(
            try samples(.bloodPressure).map(\.reading) == [.bloodPressure(BloodPressure(systolic: 120, diastolic: 80))])
        #expect(try values(.steps) == ["2026-01-05T13:30:00.000Z": 61, "2026-01-05T13:31:00.000Z": 12.6])
    }

    @Test func `stages of one source become sleeps, in order and without overlap`() throws {
        let at = Phone.at
        let night = Sleep(stages: [
            Sleep.Stage(.light, from: at("2026-01-04T22:10:00Z"), to: at("2026-01-04T22:40:00Z")),
            Sleep.Stage(.deep, from: at("2026-01-04T22:40:00Z"), to: at("2026-01-04T23:10:00Z")),
            Sleep.Stage(.rem, from: at("2026-01-04T23:10:00Z"), to: at("2026-01-04T23:30:00Z")),
            // It overlapped by five minutes.
            Sleep.Stage(.awake, from: at("2026-01-04T23:30:00Z"), to: at("2026-01-04T23:40:00Z")),
        ])
        let nap = Sleep(stages: [
            Sleep.Stage(.light, from: at("2026-01-05T12:00:00Z"), to: at("2026-01-05T12:20:00Z"))
        ])
        // The phone knows only that the person lay in bed.
        let inBed = Sleep(stages: [
            Sleep.Stage(.inBed, from: at("2026-01-04T22:00:00Z"), to: at("2026-01-05T06:00:00Z"))
        ])
        let sleeps = try samples(.sleep)
        #expect(sleeps.map(\.reading) == [.sleep(night), .sleep(nap), .sleep(inBed)])
        #expect(sleeps.first?.start == at("2026-01-04T22:10:00Z"))
        #expect(sleeps.first?.end == at("2026-01-04T23:40:00Z"))
        #expect(sleeps.allSatisfy { $0.isValid })
    }

    @Test func `workouts have what can be known of them`() throws {
        // 1255.2 kJ / 4.184 = 300 kcal; 3.1 mi × 1609.344 = 4988.9664 m; 3100.4 steps.
        let run = Sport(
            activity: "outdoor_run", distance: 4989, energy: 300, steps: 3100, minimumHeartRate: 90,
            averageHeartRate: 140, maximumHeartRate: 171)
        let yoga = Sport(activity: "yoga", minimumHeartRate: 58, maximumHeartRate: 80)
        #expect(try samples(.sport).map(\.reading) == [.sport(run), .sport(yoga)])
    }

    @Test func `what cannot be known is counted, with the reason`() throws {
        let skipped = try Phone.records(Phone.document("health-auto-export.json"), of: HealthAutoExport.self).skipped
        #expect(
            skipped == [
                "left out on purpose: stateOfMind": 1,
                "heart_rate in the unit furlongs": 1, "heart_rate without a readable time": 1,
                "heart_rate without a value": 1,
                "a workout without readable times": 1, "a sleep without the times of its start and end": 1,
            ])
    }

    @Test func `a value that a phone determines once a day is one of the day's hours`() throws {
        let at = Phone.at
        #expect(
            try samples(.restingHeartRate) == [
                Sample(
                    metric: .restingHeartRate, start: at("2026-01-04T23:00:00Z"), end: at("2026-01-05T23:00:00Z"),
                    reading: .value(51))
            ])
    }

    @Test func `records of an export that overlaps another have the same ids, also beside new ones`() throws {
        guard let device = DeviceID("phone") else { return }
        func entry(_ minute: Int, _ rate: Int) -> String {
            #"{"date":"2026-01-05 10:\#(minute):00 +0100","Avg":\#(rate),"Min":\#(rate),"Max":\#(rate)}"#
        }
        func ids(_ entries: [String]) throws -> Set<SampleID> {
            let list = entries.joined(separator: ",")
            let text = #"{"data":{"metrics":[{"name":"heart_rate","units":"count/min","data":[\#(list)]}]}}"#
            let samples = try Phone.records(Array(text.utf8), of: HealthAutoExport.self).samples
            return Set(samples.map { SampleID(device: device, sample: $0) })
        }
        let first = try ids([entry(10, 70), entry(11, 71)])
        // The one in the middle was corrected meanwhile, the last one is new.
        let second = try ids([entry(11, 75), entry(12, 72)])
        #expect(first.count == 2 && second.count == 2)
        #expect(first.intersection(second).count == 1)
    }

    @Test(arguments: [
        #"{"data":{"metrics":[],"workouts":[]}}"#, #"{"data":{}}"#, #"{"data":{"metrics":null}}"#,
        #"{"data":{"metrics":[{"name":"heart_rate","units":"bpm","data":[]}]}}"#,
    ])
    func `an empty export has nothing, and erases nothing`(text: String) throws {
        let records = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
        #expect(records.samples.isEmpty && records.skipped.isEmpty)
    }

    @Test(arguments: [
        "", "x", "[]", "{}", #"{"metrics":[]}"#, #"{"data":[]}"#, #"{"data":{"metrics":[}}"#, "date,heart_rate\n1,2",
    ])
    func `what is no export is refused as a whole`(text: String) {
        #expect(throws: DocumentProblem.self) {
            try HealthAutoExport.records(of: Array(text.utf8), calendar: Phone.berlin, source: nil)
        }
    }

    @Test(arguments: [
        (#"{"data":{"metrics":"x"}}"#, "data.metrics"),
        (#"{"data":{"metrics":{"name":"heart_rate"}}}"#, "data.metrics"),
        (#"{"data":{"metrics":7,"workouts":[]}}"#, "data.metrics"), (#"{"data":{"workouts":"y"}}"#, "data.workouts"),
        (#"{"data":{"metrics":[],"workouts":false}}"#, "data.workouts"), (#"{"data":{"ecg":{}}}"#, "data.ecg"),
        (#"{"data":{"heartRateNotifications":1}}"#, "data.heartRateNotifications"),
    ])
    func `an export with another value than a list is refused as a whole, with the name`(text: String, name: String) {
        #expect(throws: DocumentProblem.noList(name)) { try Phone.records(Array(text.utf8), of: HealthAutoExport.self) }
        #expect(DocumentProblem.noList(name).message == "The document cannot be read: \(name) must be a list.")
    }

    @Test func `what is no record in a list is counted, and the others are read`() throws {
        let rate = #"{"date":"2026-01-05T00:00:00Z","Avg":60}"#
        let lists = [
            "1", #""x""#, "null", #"{"name":"heart_rate"}"#, #"{"name":"heart_rate","units":"bpm","data":"x"}"#,
            #"{"name":"step_count","data":null}"#, #"{"name":"active_energy","data":{}}"#, #"{"data":7}"#,
            #"{"name":"heart_rate","units":"bpm","data":[1,\#(rate),"x"]}"#,
            #"{"name":"sleep_analysis","data":[null]}"#,
        ]
        let text = #"{"data":{"metrics":[\#(lists.joined(separator: ","))],"workouts":[[]]}}"#
        let found = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
        #expect(found.samples.map(\.value) == [60])
        #expect(
            found.skipped == [
                "an entry of metrics that is no object": 3, "heart_rate whose data is no list": 2,
                "step_count whose data is no list": 1, "active_energy whose data is no list": 1,
                "? whose data is no list": 1, "an entry of heart_rate that is no object": 2,
                "an entry of sleep_analysis that is no object": 1, "an entry of workouts that is no object": 1,
            ])
    }

    @Test func `metrics without a list count towards the two thousand lists`() throws {
        func document(_ count: Int) -> [UInt8] {
            let metrics = (0..<count).map { #"{"name":"kind\#($0)"}"# }.joined(separator: ",")
            return Array(#"{"data":{"metrics":[\#(metrics)]}}"#.utf8)
        }
        #expect(try Phone.records(document(2000), of: HealthAutoExport.self).skipped.count == 2000)
        #expect(throws: DocumentProblem.tooManyLists) { try Phone.records(document(2001), of: HealthAutoExport.self) }
    }

    @Test func `a document has two thousand lists at most`() throws {
        func document(_ count: Int) -> [UInt8] {
            let list = #"{"name":"heart_rate","data":[{"date":"2026-01-05T00:00:00Z","qty":60}]}"#
            let lists = Array(repeating: list, count: count).joined(separator: ",")
            return Array(#"{"data":{"metrics":[\#(lists)]}}"#.utf8)
        }
        #expect(try Phone.records(document(2000), of: HealthAutoExport.self).samples.count == 2000)
        #expect(throws: DocumentProblem.tooManyLists) {
            try Phone.records(document(2001), of: HealthAutoExport.self)
        }
    }

    @Test func `a date without a time is a day of steps, and no moment of anything else`() throws {
        func list(_ name: String) -> String {
            #"{"name":"\#(name)","data":[{"date":"2026-01-05","Avg":72,"qty":5000}]}"#
        }
        let text = #"{"data":{"metrics":[\#(list("heart_rate")),\#(list("step_count"))]}}"#
        let found = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
        let at = Phone.at
        #expect(
            found.samples == [
                Sample(
                    metric: .steps, start: at("2026-01-04T23:00:00Z"), end: at("2026-01-05T23:00:00Z"),
                    reading: .count(Increment(count: 5000)))
            ])
        #expect(found.skipped == ["heart_rate of a whole day, which has no time; in the app, choose minutes": 1])
    }

    @Test func `a document may be as deep as JSON is read, and no deeper`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            // The object and `data` are two of the levels.
            let deep = String(repeating: "[", count: depth - 2) + String(repeating: "]", count: depth - 2)
            return Array(#"{"data":{"other":\#(deep)}}"#.utf8)
        }
        #expect(try Phone.records(nested(32), of: HealthAutoExport.self).samples.isEmpty)
        #expect(throws: DocumentProblem.self) { try Phone.records(nested(33), of: HealthAutoExport.self) }
    }
}
