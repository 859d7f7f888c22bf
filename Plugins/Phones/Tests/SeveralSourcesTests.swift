import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Documents with records of a watch and a phone, in a store, and what a consumer has of them.
@Suite struct SeveralSourcesTests {
    private func store(_ app: any PhoneApp.Type) throws -> ConsumedStore {
        try ConsumedStore(app.overlaps, device: try #require(DeviceID("phone")))
    }

    /// Steps of minutes, `2026-06-12 09:00:00 +0200` and on, in the order of these sources.
    private static func exported(
        _ minutes: Range<Int>, of sources: [(name: String, steps: Double)], from start: String = "2026-06-12T07:00:00Z"
    ) -> String {
        let entries = minutes.flatMap { minute in
            sources.map { source in
                let time = Phone.at(start) + .minutes(minute)
                return "{\"date\":\"\(time)\",\"qty\":\(source.steps),\"source\":\"\(source.name)\"}"
            }
        }
        return
            "{\"data\":{\"metrics\":[{\"name\":\"step_count\",\"units\":\"count\",\"data\":[\(entries.joined(separator: ","))]}]}}"
    }

    private func samples(_ text: String, order: SourceOrder = SourceOrder()) throws -> [Sample] {
        try Phone.records(Array(text.utf8), of: HealthAutoExport.self, order: order).samples
    }

    private func steps(_ store: ConsumedStore) -> Double { store.held(.steps).compactMap(\.value).reduce(0, +) }

    @Test func `half an hour of a watch and a phone, exported three times, counts once`() async throws {
        let (watch, phone) = ((name: "Watch", steps: 30.0), (name: "Phone", steps: 20.0))
        for sources in [[watch, phone], [phone, watch]] {
            let store = try store(HealthAutoExport.self)
            let document = try samples(Self.exported(0..<30, of: sources))
            #expect(try await store.ingest(document).filter { $0 == .new }.count == 30)
            let held = store.held
            for _ in 0..<2 {
                #expect(try await store.ingest(document).allSatisfy { $0 == .known || $0 == .withdrawn })
            }
            #expect(store.held == held && steps(store) == 900)
            let day = try #require(LocalDay("2026-06-12"))
            #expect(try await store.total(.steps, of: day, in: Phone.berlin) == 900)
        }
    }

    @Test func `minutes that the watch did not count are those of the phone, whichever comes first`() async throws {
        let watch = try samples(Self.exported(10..<20, of: [("Watch", 30)]))
        let phone = try samples(Self.exported(0..<30, of: [("iPhone", 20)]))
        var results: [[SampleID: Sample]] = []
        for documents in [[watch, phone], [phone, watch], [phone, watch, phone]] {
            let store = try store(HealthAutoExport.self)
            for document in documents { try await store.ingest(document) }
            #expect(steps(store) == 10 * 30 + 20 * 20)
            results.append(store.held)
        }
        #expect(Set(results).count == 1)
    }

    @Test func `what the app has merged counts before its sources alone`() async throws {
        let sources = [("Phone", 20.0), ("Watch", 30.0), ("Watch|Phone", 35.0), ("Watch 2", 90.0)]
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let store = try store(HealthAutoExport.self)
            for place in order {
                let (name, steps) = sources[place]
                try await store.ingest(try samples(Self.exported(0..<2, of: [(name, steps)])))
            }
            #expect(steps(store) == 70, "\(order)")
        }
    }

    @Test func `the options may put the phone first`() async throws {
        let text = Self.exported(0..<30, of: [("Watch", 30), ("Phone", 20)])
        let store = try store(HealthAutoExport.self)
        try await store.ingest(try samples(text, order: SourceOrder(["Phone"])))
        #expect(steps(store) == 600)
    }

    @Test func `parts of steps add up to whole ones`() async throws {
        let store = try store(HealthAutoExport.self)
        let document = try samples(Self.exported(0..<120, of: [("Watch", 0.4)]))
        for part in [document, Array(document[50...]), document.reversed()] { try await store.ingest(part) }
        let day = try #require(LocalDay("2026-06-12"))
        #expect(try await store.total(.steps, of: day, in: Phone.berlin) == 48)
    }

    @Test(arguments: ["2026-03-28T22:30:00Z", "2026-10-24T21:30:00Z", "2026-06-12T21:30:00Z"])
    func `a day of 23, 24 or 25 hours, and a journey, have each step once`(start: String) async throws {
        // Five hours over midnight and the change of the clocks, written with the offsets of three zones.
        let moment = Phone.at(start)
        func document(_ offset: String, _ hours: Int) -> String {
            let entries = (0..<300).flatMap { minute in
                [("Watch", 2), ("Phone", 1)].map { name, steps in
                    let local = (moment + .minutes(minute) + .hours(hours)).description
                        .replacing("T", with: " ").replacing(".000Z", with: " \(offset)")
                    return "{\"date\":\"\(local)\",\"qty\":\(steps),\"source\":\"\(name)\"}"
                }
            }
            return "{\"data\":{\"metrics\":[{\"name\":\"step_count\",\"data\":[\(entries.joined(separator: ","))]}]}}"
        }
        let store = try store(HealthAutoExport.self)
        for (offset, hours) in [("+0100", 1), ("+0200", 2), ("-0800", -8)] as [(String, Int)] {
            try await store.ingest(try samples(document(offset, hours)))
        }
        #expect(store.held(.steps).count == 300 && steps(store) == 600)
        let (first, second) = (Phone.berlin.day(of: moment), Phone.berlin.day(of: moment + .hours(5)))
        #expect(second == first.advanced(by: 1))
        let days = [
            try await store.total(.steps, of: first, in: Phone.berlin),
            try await store.total(.steps, of: second, in: Phone.berlin),
        ]
        // Half an hour of the first day.
        #expect(days == [60, 540])
    }

    @Test func `an interval without steps hides nothing`() throws {
        let found = try Phone.records(
            Array(Self.exported(0..<2, of: [("Watch", 0), ("Phone", 20)]).utf8), of: HealthAutoExport.self)
        #expect(found.samples.map(\.origin?.name) == ["Phone", "Phone"])
        #expect(found.skipped == ["an interval without steps": 2])
    }

    @Test func `what is no number of steps is skipped, and one that nobody makes is refused`() throws {
        let found = try Phone.records(
            Array(Self.exported(0..<1, of: [("Watch", -4), ("Phone", 600_000)]).utf8), of: HealthAutoExport.self)
        #expect(found.samples.map(\.isValid) == [false])
        #expect(found.skipped == ["step_count that is no number of steps": 1])
    }

    private static func posted(_ records: [(metadata: String, count: Int)]) -> String {
        let times = #""start_time":"2026-06-12T06:00:00Z","end_time":"2026-06-12T06:10:00Z""#
        let entries = records.map { "{\"count\":\($0.count),\(times),\"metadata\":\($0.metadata)}" }
        let rates = records.map {
            "{\"bpm\":\(60 + $0.count),\"time\":\"2026-06-12T06:00:00Z\",\"metadata\":\($0.metadata)}"
        }
        return "{\"steps\":[\(entries.joined(separator: ","))],\"heart_rate\":[\(rates.joined(separator: ","))]}"
    }

    @Test func `two devices of one app of Android are two sources`() async throws {
        let watch = #"{"data_origin":"com.fit","device":{"manufacturer":"Google","model":"Pixel Watch","type":1}}"#
        let phone = #"{"device":{"type":2,"model":"Pixel 9","manufacturer":"Google"},"data_origin":"com.fit"}"#
        let other = #"{"data_origin":"com.other"}"#
        let text = Self.posted([(other, 1), (phone, 2), (watch, 3)])
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self)
        #expect(
            found.samples.filter { $0.metric == .steps }.map(\.origin) == [
                SampleOrigin(place: 2007, name: "com.other"), SampleOrigin(place: 2005, name: "com.fit Google Pixel 9"),
                SampleOrigin(place: 2001, name: "com.fit Google Pixel Watch"),
            ])
        let store = try store(HealthConnectWebhook.self)
        try await store.ingest(found.samples)
        #expect(store.held(.steps).map(\.value) == [3])
        // Values that add up to nothing are all there.
        #expect(Set(store.held(.heartRate).map(\.value)) == [61, 62, 63])
        let order = SourceOrder(["Pixel 9"])
        let first = try self.store(HealthConnectWebhook.self)
        try await first.ingest(
            try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self, order: order).samples)
        #expect(first.held(.steps).map(\.value) == [2])
        // The one app of the option is all of its devices.
        let only = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self, source: "com.fit")
        #expect(only.skipped == ["steps of another source: com.other": 1])
    }

    @Test func `a value that names no source is kept beside an equal one of a watch`() async throws {
        let entries = [#","source":"Watch""#, ""].map { "{\"date\":\"2026-06-12 09:00:00 +0200\",\"Avg\":60\($0)}" }
        for entries in [entries, entries.reversed()] {
            let text =
                "{\"data\":{\"metrics\":[{\"name\":\"heart_rate\",\"data\":[\(entries.joined(separator: ","))]}]}}"
            let store = try store(HealthAutoExport.self)
            for _ in 0..<2 { try await store.ingest(try samples(text)) }
            #expect(store.held(.heartRate).map(\.value) == [60, 60])
        }
    }

    @Test func `devices without names are told apart by their types`() throws {
        let types = [1, 2].map { "{\"data_origin\":\"com.fit\",\"device\":{\"type\":\($0)}}" }
        let text = Self.posted([(types[0], 1), (types[1], 2)])
        let found = try Phone.records(Array(text.utf8), of: HealthConnectWebhook.self).samples
        #expect(found.prefix(2).map(\.origin?.name) == ["com.fit type 1", "com.fit type 2"])
        #expect(found.prefix(2).map(\.origin?.place) == [2001, 2005])
    }
}
