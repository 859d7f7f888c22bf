import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Uploads as to Nightscout, written by hand after the apps' source.
@Suite struct NightscoutTests {
    private static let noon = Phone.at("2026-01-05T12:00:00Z")
    private static let trend = "left out on purpose: direction, the trend: the gateway has no place for it"

    private func sample(
        _ value: Double, at time: Timestamp = noon, _ specimen: String = "interstitial_fluid", from source: String?
    ) -> Sample {
        var sample = Sample(
            metric: .bloodGlucose, start: time, end: time, qualifiers: [.specimen: specimen], reading: .value(value))
        sample.origin =
            source.map { SourceOrder().origin(of: $0, .other, otherNames: [], isMerged: false) } ?? SourceOrder.nameless
        return sample
    }

    private func records(_ text: String, source: String? = nil) throws -> (samples: [Sample], skipped: [String: Int]) {
        let records = try Phone.records(Array(text.utf8), of: Nightscout.self, source: source)
        return (records.samples, records.skipped)
    }

    @Test func `reads what xDrip+ uploads`() throws {
        let (samples, skipped) = try records(
            """
            [{"device":"xDrip-DexcomG5","date":1767614400000,"dateString":"2026-01-05T13:00:00.000+0100","sgv":112,"delta":-1.993,
              "direction":"Flat","type":"sgv","filtered":112000,"unfiltered":112000,"rssi":100,"noise":1,
              "sysTime":"2026-01-05T13:00:00.000+0100"},
             {"device":"xDrip-DexcomG5","date":1767614700000,"sgv":108,"direction":"NOT COMPUTABLE","type":"sgv"},
             {"device":"xDrip-DexcomG5","type":"mbg","date":1767614400000,"dateString":"2026-01-05T13:00:00.000+0100","mbg":115.5,
              "sysTime":"2026-01-05T13:00:00.000+0100"},
             {"device":"xDrip-DexcomG5","type":"cal","date":1767614400000,"slope":1000,"intercept":-30000,"scale":1}]
            """)
        #expect(
            samples == [
                sample(112, from: "xDrip-DexcomG5"), sample(108, at: Self.noon + .minutes(5), from: "xDrip-DexcomG5"),
                sample(115.5, "capillary_blood", from: "xDrip-DexcomG5 mbg"),
            ])
        #expect(skipped == [Self.trend: 1, "left out on purpose: a calibration": 1])
        // An older version has no type, and sends each entry alone.
        let legacy = try records(
            #"{"device":"xDrip-BluetoothWixel","date":1767614400000,"dateString":"2026-01-05T13:00:00.000+0100","sgv":112}"#
        )
        #expect(legacy.samples == [sample(112, from: "xDrip-BluetoothWixel")])
    }

    @Test func `reads what Juggluco uploads`() throws {
        let (samples, skipped) = try records(
            #"[{"type":"sgv","device":"3MH00ABCDEF","dateString":"2026-01-05T13:00:00.000+0100","date":1767614400000,"sgv":63,"delta":0.500,"direction":"FortyFiveUp","noise":1,"filtered":63000,"unfiltered":63000,"rssi":100}]"#
        )
        #expect(samples == [sample(63, from: "3MH00ABCDEF")])
        #expect(skipped == [Self.trend: 1])
    }

    @Test func `what else is uploaded is counted by its name`() throws {
        let (samples, skipped) = try records(
            """
            [{"eventType":"Meal Bolus","carbs":20,"insulin":2,"created_at":"2026-01-05T12:00:00Z","glucose":112},
             {"device":"openaps://x","openaps":{},"pump":{}}, {"device":"Bridge","uploader":{"battery":40,"type":"BRIDGE"}},
             {"device":"x","uploader":{"name":"transmitter","battery":77}}, {"device":"x","uploader":{"battery":"50 days"}},
             {"type":"hr-bpm","timeStamp":1767614400000,"bpm":60}, {"type":"rawbg","date":1767614400000}, {"date":1}, 7,
             {"uploaderBattery":101}]
            """)
        #expect(samples.isEmpty)
        #expect(
            skipped == [
                "left out on purpose: a treatment": 1, "left out on purpose: the status of a device": 4,
                "left out on purpose: an activity of the type hr-bpm": 1, "an entry of the type rawbg": 1,
                "an entry without a type": 1, "an entry of the upload that is no object": 1,
                "a battery level that is not from 0 to 100 %": 1,
            ])
    }

    @Test func `an error code of a sensor is no glucose, and a value or time that is none is refused`() throws {
        let (samples, skipped) = try records(
            """
            [{"sgv":12,"date":1767614400000}, {"sgv":13,"date":1767614400000}, {"sgv":"112","dateString":"2026-01-05T13:00:00+0100"},
             {"mbg":5.5,"units":"mmol/L","sysTime":"2026-01-05T12:00:00.000Z"}, {"sgv":112,"units":"g","date":1767614400000},
             {"type":"sgv","date":1767614400000}, {"sgv":null,"date":1767614400000}, {"sgv":112}, {"sgv":112,"date":"soon"},
             {"sgv":112,"date":1e300}, {"sgv":112,"date":1767614400}]
            """)
        #expect(
            samples == [
                sample(13, from: nil), sample(112, from: nil), sample(99.1, "capillary_blood", from: " mbg"),
            ])
        #expect(
            skipped == [
                "an error code of the sensor as a glucose": 1, "a glucose in the unit g": 1,
                "sgv: must be a number in mg/dL": 2, "date: must be milliseconds since 1970, such as 1767614400000": 3,
                "date: is before 2001: set the phone's clock; it must be milliseconds since 1970": 1,
            ])
    }

    @Test func `of several apps one may be chosen`() throws {
        let text = #"[{"sgv":112,"date":1767614400000,"device":"a"},{"sgv":113,"date":1767614400000,"device":"b"}]"#
        #expect(try records(text).samples.count == 2)
        let chosen = try records(text, source: "b")
        #expect(chosen.samples == [sample(113, from: "b")])
        #expect(chosen.skipped == ["blood_glucose of another source: a": 1])
    }

    @Test func `what is no upload is refused as a whole`() throws {
        for text in ["", "7", "{}", #"{"a":1}"#, "[1", "[]x", #"{"date":1767614400000}"#] {
            #expect(throws: DocumentProblem.self, "\(text)") { try records(text) }
        }
        #expect(try records("[]").samples.isEmpty)
        let ofAndroid = try Phone.document("health-connect-webhook.json")
        let ofApple = try Phone.document("health-auto-export.json")
        #expect(throws: DocumentProblem.foreign(HealthConnectWebhook.self)) {
            try Phone.records(ofAndroid, of: Nightscout.self)
        }
        #expect(throws: DocumentProblem.foreign(HealthAutoExport.self)) {
            try Phone.records(ofApple, of: Nightscout.self)
        }
    }

    @Test func `the battery of the phone that uploads is that of the device`() throws {
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let documents = ScriptedDocuments()
            try await PhoneDriver<Nightscout>().withSession(
                over: .documents(documents), context: Phone.context(clock: simulation.gatewayClock)
            ) { session in
                for (text, percent, isCharging) in [
                    (#"{"device":"Google Pixel 8","uploader":{"battery":60,"type":"PHONE"}}"#, 60.0, nil as Bool?),
                    (#"[{"uploaderBattery":1},{"uploader":{"battery":59,"isCharging":true}}]"#, 59, true),
                ] {
                    let document = documents.send(text)
                    let events = try await session.nextEvents()
                    #expect(events == [.battery(percent: percent, isCharging: isCharging)])
                    let answer = try await document.answered()
                    #expect(answer == .stored(DocumentReport()))
                }
            }
        }
    }

    /// What sensors have measured, sent again, overlapping and in another order, ends in the same samples.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `uploads end in the same samples in any order, and again change nothing`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var all: [String] = []
        for number in 0..<100 {
            let time = Self.noon + .minutes(number / 3 * 5)
            // A fingerstick, and another app, have the same times.
            let (type, name) = [("sgv", "xDrip-DexcomG5"), ("mbg", "xDrip-DexcomG5"), ("sgv", "3MH00ABCDEF")][
                number % 3]
            let value = Int.random(in: 40...400, using: &random)
            let date = number % 2 == 0 ? "\(time.milliseconds)" : "\"\(time)\""
            all.append(
                #"{"type":"\#(type)","\#(type)":\#(value),"date":\#(date),"device":"\#(name)","direction":"Flat"}"#)
        }
        var (documents, sent): ([[Sample]], Set<String>) = ([], [])
        for _ in 0..<20 {
            let entries = Array(all.shuffled(using: &random).prefix(Int.random(in: 1...40, using: &random)))
            sent.formUnion(entries)
            let text = entries.count == 1 ? entries[0] : "[\(entries.joined(separator: ","))]"
            documents.append(try records(text).samples)
        }
        let device = try #require(DeviceID("sensor"))
        let (first, second) = (
            try ConsumedStore(Nightscout.overlaps, device: device),
            try ConsumedStore(Nightscout.overlaps, device: device)
        )
        for document in documents { try await first.ingest(document) }
        for document in (documents + documents.prefix(10)).shuffled(using: &random) {
            try await second.ingest(document)
        }
        #expect(first.held == second.held)
        #expect(first.held(.bloodGlucose).count == sent.count)
        for document in documents {
            #expect(try await first.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn })
        }
    }
}
