import Foundation
import TestSupport
import Testing
import Vitals

@testable import Phones

@Suite struct HealthConnectWebhookTests {
    @Test func `the samples of a document are those worked out by hand`() throws {
        let at = Phone.at
        let found = try Phone.records(Phone.document("health-connect-webhook.json"), of: HealthConnectWebhook.self)
        func value(
            _ metric: Metric, _ time: String, _ value: Double, _ qualifiers: [Qualifier: String] = [:]
        ) -> Sample {
            Sample(metric: metric, start: at(time), qualifiers: qualifiers, reading: .value(value))
        }
        let stages = [
            Sleep.Stage(.light, from: at("2026-01-04T23:10:00Z"), to: at("2026-01-05T01:00:00Z")),
            Sleep.Stage(.deep, from: at("2026-01-05T01:00:00Z"), to: at("2026-01-05T02:00:00Z")),
            Sleep.Stage(.rem, from: at("2026-01-05T02:00:00Z"), to: at("2026-01-05T03:00:00Z")),
            Sleep.Stage(.asleep, from: at("2026-01-05T03:00:00Z"), to: at("2026-01-05T04:00:00Z")),
            Sleep.Stage(.awake, from: at("2026-01-05T04:00:00Z"), to: at("2026-01-05T04:10:00Z")),
            // Out of bed, by its word and by its number.
            Sleep.Stage(.awake, from: at("2026-01-05T05:00:00Z"), to: at("2026-01-05T05:10:00Z")),
            Sleep.Stage(.awake, from: at("2026-01-05T05:30:00Z"), to: at("2026-01-05T05:35:00Z")),
        ]
        func count(_ metric: Metric, _ from: String, _ to: String, _ amount: Double) throws -> Sample {
            Sample(
                metric: metric, start: at("2026-01-\(from):00Z"), end: at("2026-01-\(to):00Z"),
                reading: .count(try #require(Increment(amount: amount))))
        }
        let expected: [Sample] = [
            Sample(
                metric: .steps, start: at("2026-01-05T10:00:00Z"), end: at("2026-01-05T10:15:00Z"),
                reading: .count(Increment(count: 120))),
            value(.heartRate, "2026-01-05T10:00:00Z", 72), value(.heartRate, "2026-01-05T10:00:05.250Z", 73),
            value(.restingHeartRate, "2026-01-05T06:00:00Z", 55),
            value(.heartRateVariability, "2026-01-05T03:00:00Z", 38.25, [.statistic: "rmssd"]),
            // 27,000 s before its end.
            Sample(
                metric: .sleep, start: at("2026-01-04T23:00:00Z"), end: at("2026-01-05T06:30:00Z"),
                reading: .sleep(Sleep(stages: stages))),
            // A nap of 1,200 s without stages.
            Sample(
                metric: .sleep, start: at("2026-01-05T14:10:00Z"), end: at("2026-01-05T14:30:00Z"),
                reading: .sleep(
                    Sleep(stages: [
                        Sleep.Stage(.asleep, from: at("2026-01-05T14:10:00Z"), to: at("2026-01-05T14:30:00Z"))
                    ]))),
            value(.bloodOxygen, "2026-01-05T03:00:00Z", 97),
            Sample(
                metric: .bloodPressure, start: at("2026-01-05T08:00:00Z"),
                reading: .bloodPressure(BloodPressure(systolic: 120, diastolic: 80))),
            value(.temperature, "2026-01-05T08:00:00Z", 36.6), value(.skinTemperature, "2026-01-05T03:00:00Z", 34.5),
            value(.respiratoryRate, "2026-01-05T03:00:00Z", 13.5), value(.weight, "2026-01-05T08:00:00Z", 70.25),
            value(.bloodGlucose, "2026-01-05T08:00:00Z", 99.1),
            Sample(
                metric: .sport, start: at("2026-01-05T07:00:00Z"), end: at("2026-01-05T07:31:00Z"),
                reading: .sport(Sport(activity: "running", distance: 5100, steps: 4800))),
            Sample(
                metric: .sport, start: at("2026-01-05T17:00:00Z"), end: at("2026-01-05T17:31:00Z"),
                reading: .sport(Sport(activity: "running"))),
            try count(.distance, "05T08:00", "05T09:00", 5420.25),
            try count(.activeEnergy, "05T08:00", "05T09:00", 312.5),
            try count(.totalEnergy, "04T00:00", "05T00:00", 2100),
            value(.height, "2026-01-05T07:30:00Z", 178), try count(.hydration, "05T07:00", "05T07:01", 300),
            // Oatmeal and an apple: 350 + 95 kcal, 25 g of protein, 45.5 + 25.1 g of carbohydrates, 10 g of fat.
            try count(.dietaryEnergy, "05T07:30", "05T07:40", 445), try count(.protein, "05T07:30", "05T07:31", 25),
            try count(.carbohydrates, "05T07:30", "05T07:40", 70.6), try count(.fat, "05T07:30", "05T07:31", 10),
            try count(.dietaryEnergy, "05T16:00", "05T16:00", 5),
            value(.bodyFat, "2026-01-05T07:30:00Z", 18.5), value(.leanMass, "2026-01-05T07:30:00Z", 61.5),
            value(.vo2Max, "2026-01-05T09:00:00Z", 48.2), value(.temperature, "2026-01-05T06:30:00Z", 36.4),
        ]
        for (sample, wanted) in zip(found.samples, expected) { #expect(sample == wanted) }
        #expect(found.samples.count == expected.count)
        #expect(found.samples.allSatisfy { $0.isValid })
        #expect(
            found.skipped == [
                "skin_temperature without its baseline: a difference alone is no temperature": 1,
                "nutrition without energy, protein, carbohydrates or fat": 1, "the gateway has no bone_mass": 1,
                "left out on purpose: basal_metabolic_rate": 1, "left out on purpose: menstruation_flow": 1,
            ])
        #expect(Set(found.samples.map(\.metric)) == Set(HealthConnectWebhook.metrics))
    }

    /// A session from 23:00 to 07:00 of an app, with these stages.
    private static func session(_ stages: String, app: String) -> String {
        #"{"session_end_time":"2026-01-05T07:00:00Z","duration_seconds":28800,"stages":[\#(stages)],"#
            + #""metadata":{"data_origin":"\#(app)"}}"#
    }

    private static func stage(_ code: Int, _ from: String, _ to: String) -> String {
        #"{"stage":"\#(code)","start_time":"2026-01-0\#(from):00Z","end_time":"2026-01-0\#(to):00Z"}"#
    }

    @Test func `a night counts with its stages, in whichever order it comes without them as well`() async throws {
        // 480 minutes, of which 30 are awake.
        let staged = [
            Self.stage(4, "4T23:00", "5T03:00"), Self.stage(7, "5T03:00", "5T03:30"),
            Self.stage(5, "5T03:30", "5T07:00"),
        ].joined(separator: ",")
        let forms = [staged, Self.stage(2, "4T23:00", "5T07:00"), ""]
        for apps in [["com.app", "com.app", "com.app"], ["com.b", "com.a", "com.c"], ["com.b", "com.c", "com.a"]] {
            let sessions = zip(forms, apps).map { Self.session($0, app: $1) }
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
                let store = try ConsumedStore(HealthConnectWebhook.overlaps, device: try #require(DeviceID("phone")))
                // Of one app in one document; of several one after the other, and then all at once.
                let documents = apps[0] == apps[1] ? [[0, 2]] : order.map { [$0] } + [[0, 1, 2]]
                for document in documents {
                    let list = document.map { sessions[$0] }.joined(separator: ",")
                    let text = "{\"sleep\":[\(list)]}"
                    try await store.ingest(try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples)
                }
                #expect(store.held(.sleep).map(\.value) == [450], "\(apps) \(order)")
            }
        }
    }

    @Test func `a session in which no stage is asleep is asleep where it is not awake`() throws {
        let awake = [Self.stage(3, "5T03:00", "5T03:10"), Self.stage(7, "5T06:30", "5T07:00")].joined(separator: ",")
        // Asleep at an unknown depth, without stages, of an unknown stage, all but what is awake, and only awake.
        let cases: [(String, Int)] = [
            (Self.stage(2, "4T23:00", "5T07:00"), 480), ("", 480), (Self.stage(0, "4T23:00", "5T07:00"), 480),
            (awake, 440), (Self.stage(1, "4T23:00", "5T06:59"), 0),
        ]
        for (stages, minutes) in cases {
            let text = "{\"sleep\":[\(Self.session(stages, app: "com.app"))]}"
            let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
            #expect(found.samples.map(\.value) == [Double(minutes)])
            #expect(found.samples.allSatisfy { $0.isValid })
            guard case .sleep(let sleep)? = found.samples.first?.reading else { continue }
            #expect(sleep.minutes(.asleep) == minutes && sleep.minutes(.inBed) == 0)
        }
    }

    @Test func `two naps without stages stay two`() throws {
        let naps = ["13:20:00Z", "15:20:00Z"].map {
            #"{"session_end_time":"2026-01-05T\#($0)","duration_seconds":1200,"stages":[]}"#
        }
        let text = #"{"sleep":[\#(naps.joined(separator: ","))]}"#
        let samples = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
        #expect(samples.map(\.value) == [20, 20])
        #expect(samples.map(\.start) == [Phone.at("2026-01-05T13:00:00Z"), Phone.at("2026-01-05T15:00:00Z")])
    }

    @Test func `a sleep that does not say when it began, or took no time, is skipped`() throws {
        let end = #""session_end_time":"2026-01-05T07:00:00Z""#
        let text = "{\"sleep\":[{\(end),\"stages\":[]},{\"duration_seconds\":60},{\(end),\"duration_seconds\":0}]}"
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        #expect(found.samples.isEmpty)
        #expect(found.skipped == ["a sleep without readable times": 2, "a sleep without a length": 1])
    }

    @Test func `a walk that a watch and a phone count counts once`() async throws {
        let times = #""start_time":"2026-06-12T06:00:00Z","end_time":"2026-06-12T06:30:00Z""#
        let devices = [("Pixel 9", 2, 9.0), ("Pixel Watch", 1, 10.0)]
        func list(_ name: String, _ member: String, _ times: String, _ factor: Double) -> String {
            let entries = devices.map { model, type, amount in
                let device = #"{"data_origin":"com.fit","device":{"model":"\#(model)","type":\#(type)}}"#
                return "{\"\(member)\":\(amount * factor),\(times),\"metadata\":\(device)}"
            }
            return "\"\(name)\":[\(entries.joined(separator: ","))]"
        }
        let lists = [
            list("steps", "count", times, 300), list("distance", "meters", times, 200),
            list("active_calories", "calories", times, 10), list("total_calories", "calories", times, 15),
        ]
        let store = try ConsumedStore(HealthConnectWebhook.overlaps, device: try #require(DeviceID("phone")))
        let text = "{\(lists.joined(separator: ","))}"
        for _ in 0..<2 {
            try await store.ingest(try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples)
        }
        let wanted: [(Metric, Double)] = [
            (.steps, 3000), (.distance, 2000), (.activeEnergy, 100), (.totalEnergy, 150),
        ]
        for (metric, amount) in wanted {
            #expect(store.held(metric).map(\.value) == [amount])
            #expect(store.held(metric).map(\.origin?.name) == ["com.fit Pixel Watch"])
        }
    }

    @Test func `what an app eats is a count of its own, and the option leaves out only what is done`() throws {
        let times = #""start_time":"2026-06-12T06:00:00Z","end_time":"2026-06-12T06:30:00Z""#
        let lists = [("nutrition", "calories", 100), ("hydration", "liters", 2), ("distance", "meters", 50)].map {
            list in
            let entries = ["com.a", "com.b", "com.a"].map { app in
                "{\"\(list.1)\":\(list.2),\(times),\"metadata\":{\"data_origin\":\"\(app)\"}}"
            }
            return "\"\(list.0)\":[\(entries.joined(separator: ","))]"
        }
        let text = "{\(lists.joined(separator: ","))}"
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self, source: "com.a")
        #expect(found.samples.map(\.value) == [200, 100, 4000, 2000, 50, 50])
        #expect(found.samples.map(\.origin?.name) == ["com.a", "com.b", "com.a", "com.b", "com.a", "com.a"])
        #expect(found.skipped == ["distance of another source: com.b": 1])
    }

    @Test func `the average of some minutes is a value at their beginning`() throws {
        let bucket = #"{"time":"2026-01-05T10:00:00Z","avg":72,"min":60,"max":90}"#
        let skin = #"{"time":"2026-01-05T10:00:00Z","avg_delta_celsius":0.5,"baseline_celsius":34}"#
        let names = ["heart_rate", "heart_rate_variability", "oxygen_saturation", "respiratory_rate"]
        let lists = names.map { "\"\($0)\":[\(bucket)]" }.joined(separator: ",")
        let text = "{\(lists),\"skin_temperature\":[\(skin)]}"
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        #expect(found.skipped == [:])
        #expect(
            found.samples.map(\.metric) == [
                .heartRate, .heartRateVariability, .bloodOxygen, .respiratoryRate, .skinTemperature,
            ])
        #expect(found.samples.map(\.value) == [72, 72, 72, 72, 34.5])
        #expect(found.samples.allSatisfy { $0.start == Phone.at("2026-01-05T10:00:00Z") })
    }

    @Test func `of a count that is reported again in part, the largest stays`() throws {
        #expect(HealthConnectWebhook.overlaps == .newest)
    }

    /// A night of 2026-05-13, with these stages of hours and minutes of UTC, and the time of its change.
    private static func night(_ stages: [(String, from: String, to: String)], changed: String?) throws -> [Sample] {
        func time(_ text: String) -> String { "2026-05-1\(text > "12" ? 3 : 4)T\(text):00Z" }
        let list = stages.map { stage in
            #"{"stage":"\#(stage.0)","start_time":"\#(time(stage.from))","end_time":"\#(time(stage.to))"}"#
        }
        let end = time(stages.last?.to ?? "")
        let update = changed.map { ",\"sleep_updated_at\":\"\(time($0))\"" } ?? ""
        let text = #"{"sleep":[{"session_end_time":"\#(end)","stages":[\#(list.joined(separator: ","))]\#(update)}]}"#
        return try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
    }

    @Test(arguments: [true, false])
    func `a night that the band has revised counts as it is now, also where it ends earlier`(
        hasTimes: Bool
    ) async throws {
        let first = try Self.night(
            [("light", "21:00", "23:30"), ("deep", "23:30", "02:00"), ("light", "02:00", "05:37")],
            changed: hasTimes ? "05:40" : nil)
        let second = try Self.night(
            [("light", "21:00", "23:10"), ("deep", "23:10", "02:20"), ("rem", "02:20", "04:50")],
            changed: hasTimes ? "07:15" : nil)
        for order in hasTimes ? [[first, second], [second, first]] : [[first, second]] {
            let store = try ConsumedStore(HealthConnectWebhook.overlaps, device: try #require(DeviceID("phone")))
            for document in order { try await store.ingest(document) }
            #expect(store.held(.sleep) == second)
            #expect(try await store.stored(.sleep) == second)
            // Sent once more, nothing changes.
            for document in order + order {
                #expect(try await store.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn })
            }
            #expect(store.held(.sleep) == second)
        }
    }

    @Test func `a record says in its metadata when it was changed, also each value of a series`() throws {
        let metadata = #""metadata":{"data_origin":"com.fit","lastModifiedTime":"2026-01-05T11:00:00Z"}"#
        let steps = #"{"start_time":"2026-01-05T10:00:00Z","end_time":"2026-01-05T10:15:00Z","count":7,\#(metadata)}"#
        let rate = #"{"time":"2026-01-05T10:00:00Z","bpm":72,\#(metadata)}"#
        let future = #"{"time":"2026-01-05T10:00:00Z","kilograms":70,"last_modified_time":"2200-01-01T00:00:00Z"}"#
        let text = #"{"steps":[\#(steps)],"heart_rate":[\#(rate)],"weight":[\#(future)]}"#
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
        #expect(found.map(\.changedAt) == [Phone.at("2026-01-05T11:00:00Z"), Phone.at("2026-01-05T11:00:00Z"), nil])
    }

    @Test(arguments: [#""x""#, "{}", "72", "true"])
    func `another value than a list is refused as a whole, with the name of the kind`(value: String) throws {
        let text = #"{"timestamp":"2026-01-05T12:00:00Z","steps":[],"app_version":"1","heart_rate":\#(value)}"#
        #expect(throws: DocumentProblem.noList("heart_rate")) {
            try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        }
    }

    @Test func `no list at all, and what is no list and of no known kind, is nothing`() throws {
        let text = #"{"timestamp":"2026-01-05T12:00:00Z","app_version":"1","heart_rate":null,"battery":{"level":5}}"#
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        #expect(found.samples.isEmpty && found.skipped.isEmpty)
    }

    @Test func `a night in a session for each stage is one sleep, and another app's is its own`() throws {
        func session(_ number: Int, app: String) -> String {
            let times = [number, number + 1].map { "2026-01-05T0\($0 / 6):\($0 % 6)0:00Z" }
            let depth = number % 2 == 0 ? "deep" : "light"
            let stage = #"{"stage":"\#(depth)","start_time":"\#(times[0])","end_time":"\#(times[1])"}"#
            return #"{"session_end_time":"\#(times[1])","duration_seconds":600,"stages":[\#(stage)],"#
                + #""metadata":{"data_origin":"\#(app)"}}"#
        }
        let night = (0..<33).map { session($0, app: "watch") } + [session(33, app: "phone")]
        let rate = #"{"time":"2026-01-05T10:00:00Z","bpm":72}"#
        func found(_ sessions: [String]) throws -> (samples: [Sample], skipped: [String: Int]) {
            let text = #"{"sleep":[\#(sessions.joined(separator: ","))],"heart_rate":[\#(rate)]}"#
            let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
            return (found.samples, found.skipped)
        }
        let one = try found(night)
        #expect(one.samples.map(\.metric) == [.sleep, .sleep, .heartRate])
        #expect(one.samples.map(\.value) == [330, 10, 72])
        #expect(one.skipped.isEmpty)
        // In the order of time, with those of the other app between them.
        let both = try found((0..<33).flatMap { [session($0, app: "phone"), session($0, app: "watch")] })
        #expect(both.samples.map(\.value) == [330, 330, 72])
    }

    @Test func `a hundred apps have a sleep each, and the sessions of further ones stay as they are`() throws {
        let times = [#""start_time":"2026-01-05T00:00:00Z""#, #""end_time":"2026-01-05T01:00:00Z""#]
        let next = [#""start_time":"2026-01-05T01:00:00Z""#, #""end_time":"2026-01-05T02:00:00Z""#]
        let sessions = [times, next].flatMap { times -> [String] in
            (0...Nights.maximumSources).map { app -> String in
                "{\"session_\(times[1].dropFirst()),\"stages\":[{\"stage\":\"deep\",\(times[0]),\(times[1])}],"
                    + "\"metadata\":{\"data_origin\":\"app \(app)\"}}"
            }
        }
        let text = "{\"sleep\":[\(sessions.joined(separator: ","))]}"
        let minutes = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples.compactMap(\.value)
        #expect(minutes.sorted() == [60, 60] + Array(repeating: 120, count: 100))
    }

    @Test func `what is no record in a list is counted, and the others are read`() throws {
        let stage = #"{"stage":"rem","start_time":"2026-01-05T01:00:00Z","end_time":"2026-01-05T02:00:00Z"}"#
        let sleep = #"{"session_end_time":"2026-01-05T02:00:00Z","stages":[7,\#(stage)]}"#
        let rate = #"{"time":"2026-01-05T10:00:00Z","bpm":72}"#
        let text = #"{"heart_rate":[1,\#(rate),"x"],"steps":[null],"sleep":[[],\#(sleep)],"hydration":[5]}"#
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        #expect(found.samples.map(\.metric) == [.heartRate, .sleep])
        #expect(
            found.skipped == [
                "an entry of heart_rate that is no object": 2, "an entry of steps that is no object": 1,
                "an entry of sleep that is no object": 1, "a stage of sleep that is no object": 1,
                "an entry of hydration that is no object": 1,
            ])
    }

    @Test func `a document without records is one, and anything else is not`() throws {
        let empty = Array(#"{"timestamp":"2026-01-05T12:00:00Z","app_version":"1"}"#.utf8)
        #expect(try Phone.records(empty, of: HealthConnectWebhook.self).samples.isEmpty)
        for text in ["", "[]", "{}", "nonsense", #"{"heart_rate":{}}"#, #"{"heart_rate":[}"#] {
            #expect(throws: DocumentProblem.self, "\(text)") {
                try HealthConnectWebhook.records(of: Array(text.utf8), calendar: Phone.berlin, source: nil)
            }
        }
    }
}
