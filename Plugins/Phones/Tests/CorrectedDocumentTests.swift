import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// What an app says again of the same thing counts in its newest form: also where that is nothing, shorter or from a later document.
@Suite struct CorrectedDocumentTests {
    /// A store after documents that came in this order.
    private func store<App: PhoneApp>(_ documents: [String], of app: App.Type) async throws -> ConsumedStore {
        let store = try ConsumedStore(App.overlaps, device: try #require(DeviceID("phone")))
        for document in documents { try await store.ingest(try Phone.stored(document, of: app)) }
        return store
    }

    private static func exported(_ name: String, _ unit: String, _ entries: [String]) -> String {
        "{\"data\":{\"metrics\":[{\"name\":\"\(name)\",\"units\":\"\(unit)\",\"data\":[\(entries.joined(separator: ","))]}]}}"
    }

    /// Steps of an iPhone at this time of day, in the zone of the phone.
    private static func steps(_ time: String, _ count: Double, _ source: String = "Watch") -> String {
        "{\"date\":\"2026-06-12 \(time) +0200\",\"qty\":\(count),\"source\":\"\(source)\"}"
    }

    /// Steps of Android between two times of day, with more members.
    private static func posted(_ from: String, _ to: String, _ count: Int, _ more: String = "") -> String {
        "{\"start_time\":\"2026-06-12T\(from):00Z\",\"end_time\":\"2026-06-12T\(to):00Z\",\"count\":\(count)\(more)}"
    }

    private static func posted(_ records: [String], _ list: String = "steps", at time: String? = nil) -> String {
        let timestamp = time.map { "\"timestamp\":\"2026-06-12T\($0):00Z\"," } ?? ""
        return "{\(timestamp)\"\(list)\":[\(records.joined(separator: ","))]}"
    }

    // MARK: - Nothing

    @Test func `a count that is corrected to nothing is nothing, and nothing by itself is not kept`() async throws {
        let documents = [61, 0].map { Self.exported("step_count", "count", [Self.steps("09:31:00", $0)]) }
        let exported = try await store(documents + [documents[1]], of: HealthAutoExport.self)
        #expect(exported.held(.steps).map(\.value) == [0])
        #expect(try await store([documents[1]], of: HealthAutoExport.self).held.isEmpty)
        let changes = ["11:00", "12:00"].map { ",\"last_modified_time\":\"2026-06-12T\($0):00Z\"" }
        let posts = [
            Self.posted([Self.posted("08:00", "08:30", 500, changes[0])]),
            Self.posted([Self.posted("08:00", "08:30", 0, changes[1])]),
        ]
        for order in [posts, [posts[0], posts[1], posts[0]]] {
            #expect(try await store(order, of: HealthConnectWebhook.self).held(.steps).map(\.value) == [0])
        }
        for order in [[posts[1]], posts.reversed()] {
            #expect(try await store(order, of: HealthConnectWebhook.self).held.isEmpty)
        }
    }

    @Test func `what a watch has corrected to nothing hides the phone no more`() async throws {
        func metadata(_ model: String, _ type: Int, _ time: String) -> String {
            #","metadata":{"data_origin":"com.fit","last_modified_time":"2026-06-12T\#(time):00Z","#
                + #""device":{"model":"\#(model)","type":\#(type)}}"#
        }
        let phone = Self.posted("08:00", "08:30", 1000, metadata("Pixel 9", 2, "09:00"))
        let watch = [(980, "09:00"), (0, "10:00")].map { count, time in
            Self.posted("08:02", "08:29", count, metadata("Pixel Watch", 1, time))
        }
        let documents = [Self.posted([phone, watch[0]]), Self.posted([watch[1]])]
        let store = try await store(documents, of: HealthConnectWebhook.self)
        #expect(store.held(.steps).compactMap(\.value).reduce(0, +) == 1000)
        let first = try await self.store([documents[0]], of: HealthConnectWebhook.self)
        #expect(first.held(.steps).map(\.value) == [980])
    }

    @Test func `a meal that loses its protein has none`() async throws {
        func meal(_ parts: String, _ time: String) -> String {
            let times = #""start_time":"2026-06-12T12:00:00Z","end_time":"2026-06-12T12:20:00Z""#
            return Self.posted(
                ["{\(parts),\(times),\"last_modified_time\":\"2026-06-12T\(time):00Z\"}"], "nutrition")
        }
        let documents = [meal(#""calories":350,"protein_grams":25"#, "13:00"), meal(#""calories":350"#, "14:00")]
        let store = try await store(documents, of: HealthConnectWebhook.self)
        #expect(store.held(.dietaryEnergy).map(\.value) == [350] && store.held(.protein).map(\.value) == [0])
        // What it never had is not told of.
        #expect(store.held(.fat).isEmpty)
        let found = try Phone.records(Array(documents[1].utf8), of: HealthConnectWebhook.self)
        #expect(found.samples.count == 1 && found.skipped.isEmpty)
    }

    @Test func `a food that is corrected to nothing counts as corrected alone, and one of nothing is skipped once`()
        throws
    {
        let food = #"{"calories":0,"start_time":"2020-06-12T12:00:00Z","end_time":"2020-06-12T12:20:00Z"}"#
        let document = Self.posted([food], "nutrition")
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let link = ScriptedDocuments()
            try await PhoneDriver<HealthConnectWebhook>().withSession(
                over: .documents(link), context: Phone.context(clock: simulation.gatewayClock)
            ) { session in
                for energy in [SettledReceipt.Outcome.corrected, .known] {
                    let sent = link.send(document)
                    let sending = try await session.nextEvents()?.first?.asSamples
                    let (samples, receipts) = try #require(sending, "no samples")
                    #expect(samples.map(\.metric) == [.dietaryEnergy, .protein, .carbohydrates, .fat])
                    let outcomes = [energy, .known, .known, .known]
                    try await session.settle(zip(receipts, outcomes).map { SettledReceipt($0, $1) })
                    var report = DocumentReport()
                    if energy == .corrected {
                        report.corrected = 1
                    } else {
                        report.skip("nutrition without energy, protein, carbohydrates or fat")
                    }
                    #expect(try await sent.answered() == .stored(report))
                }
            }
        }
    }

    @Test func `the answer says of nothing that it was skipped, unless it has corrected something`() throws {
        let document = Self.exported(
            "step_count", "count", [Self.steps("09:31:00", 0), Self.steps("09:32:00", 0), Self.steps("09:33:00", 5)]
        ).replacing("2026-06-12", with: "2020-06-12")
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let link = ScriptedDocuments()
            try await PhoneDriver<HealthAutoExport>().withSession(
                over: .documents(link), context: Phone.context(clock: simulation.gatewayClock)
            ) { session in
                let sent = link.send(document)
                let (_, receipts) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
                let outcomes: [SettledReceipt.Outcome] = [.known, .corrected, .new]
                try await session.settle(zip(receipts, outcomes).map { SettledReceipt($0, $1) })
                var report = DocumentReport()
                (report.new, report.corrected) = (1, 1)
                report.skip("an interval without steps")
                #expect(try await sent.answered() == .stored(report))
            }
        }
    }

    // MARK: - Nights

    /// Stages of ten minutes from 22:00 of UTC on, by their places.
    private static func stages(
        _ places: Range<Int>, _ body: (_ depth: String, _ start: String, _ end: String) -> String
    ) -> [String] {
        let evening = Phone.at("2026-06-12T22:00:00Z")
        return places.map { place in
            body(
                ["light", "deep", "rem"][place % 3], "\(evening + .minutes(place * 10))",
                "\(evening + .minutes(place * 10 + 10))")
        }
    }

    private static func exported(_ places: Range<Int>, window: Int? = nil) -> String {
        let entries = stages(places) { depth, start, end in
            let word = depth == "light" ? "Core" : depth
            return "{\"startDate\":\"\(start)\",\"endDate\":\"\(end)\",\"value\":\"\(word)\",\"source\":\"Watch\"}"
        }
        let sleep = "{\"name\":\"sleep_analysis\",\"units\":\"hr\",\"data\":[\(entries.joined(separator: ","))]}"
        let rates = window.map { place in
            let time = Phone.at("2026-06-12T22:00:00Z") + .minutes(place * 10)
            return ",{\"name\":\"heart_rate\",\"units\":\"bpm\",\"data\":[{\"date\":\"\(time)\",\"Avg\":60}]}"
        }
        return "{\"data\":{\"metrics\":[\(sleep)\(rates ?? "")]}}"
    }

    @Test func `a night of an iPhone that ends earlier counts, and one that begins with its document is a part`()
        async throws
    {
        func held(_ documents: [String]) async throws -> [Double?] {
            try await store(documents, of: HealthAutoExport.self).held(.sleep).map(\.value)
        }
        let night = Self.exported(0..<48)
        // The last stages are gone, at the edge of one.
        #expect(try await held([night, Self.exported(0..<42)]) == [420])
        // The document begins hours before, and the first stages are gone.
        #expect(try await held([night, Self.exported(6..<48, window: -30)]) == [420])
        // The document begins with the night, or soon before it.
        #expect(try await held([night, Self.exported(6..<48)]) == [480])
        #expect(try await held([night, Self.exported(6..<48, window: 3)]) == [480])
        #expect(try await held([Self.exported(6..<48), night]) == [480])
    }

    /// A session of Android with these stages.
    private static func session(_ places: Range<Int>) -> String {
        let list = stages(places) { "{\"stage\":\"\($0)\",\"start_time\":\"\($1)\",\"end_time\":\"\($2)\"}" }
        let end = Phone.at("2026-06-12T22:00:00Z") + .minutes(places.upperBound * 10)
        return "{\"session_end_time\":\"\(end)\",\"duration_seconds\":\(places.count * 600),"
            + "\"stages\":[\(list.joined(separator: ","))]}"
    }

    @Test func `a night of Android that ends earlier or begins later counts, at the edge of a stage, too`()
        async throws
    {
        for places in [0..<42, 6..<48, 6..<42] {
            let documents = [0..<48, places].map { Self.posted([Self.session($0)], "sleep") }
            let store = try await store(documents, of: HealthConnectWebhook.self)
            #expect(store.held(.sleep).map(\.value) == [Double(places.count * 10)])
        }
    }

    @Test func `sessions of an hour at most may be parts of a night that an app writes stage by stage`() async throws {
        let night = Self.posted((0..<48).map { Self.session($0..<$0 + 1) }, "sleep")
        for places in [30..<48, 47..<48] {
            let part = Self.posted(places.map { Self.session($0..<$0 + 1) }, "sleep")
            let store = try await store([night, part], of: HealthConnectWebhook.self)
            #expect(store.held(.sleep).map(\.value) == [480])
        }
        func nap(_ minutes: Int) throws -> Sample.Claim? {
            let nap = "{\"session_end_time\":\"2026-06-12T15:00:00Z\",\"duration_seconds\":\(minutes * 60)}"
            return try Phone.stored(Self.posted([nap], "sleep"), of: HealthConnectWebhook.self).first?.claim
        }
        #expect(try nap(60) == .part)
        #expect(try nap(61) == .whole)
    }

    // MARK: - Older documents

    @Test func `a document of Android that comes again does not bring back what a later one has corrected`()
        async throws
    {
        let first = Self.posted([Self.posted("08:00", "08:30", 100)], at: "09:00")
        let second = Self.posted([Self.posted("08:00", "08:30", 90)], at: "10:00")
        let again = Self.posted([Self.posted("08:00", "08:30", 90)], at: "12:00")
        let late = Self.posted([Self.posted("08:00", "08:30", 100)], at: "11:00")
        for order in [[first, second, first], [second, first], [second, again, late]] {
            #expect(try await store(order, of: HealthConnectWebhook.self).held(.steps).map(\.value) == [90])
        }
        // A record's own time of change is the better one.
        let change = #","last_modified_time":"2026-06-12T08:40:00Z""#
        let told = try Phone.stored(
            Self.posted([Self.posted("08:00", "08:30", 100, change)], at: "09:00"), of: HealthConnectWebhook.self)
        #expect(told.map(\.reportedAt) == [nil] && told.map(\.changedAt) == [Phone.at("2026-06-12T08:40:00Z")])
    }

    @Test func `a heart rate and a skin temperature that were changed later count, whichever comes first`() async throws
    {
        func document(_ rate: Int, _ delta: Double, _ time: String) -> String {
            let change = "\"time\":\"2026-06-12T03:00:00Z\",\"last_modified_time\":\"2026-06-12T\(time):00Z\""
            return "{\"heart_rate\":[{\"bpm\":\(rate),\(change)}],"
                + "\"skin_temperature\":[{\"delta_celsius\":\(delta),\"baseline_celsius\":34,\(change)}]}"
        }
        let documents = [document(72, 0.5, "08:00"), document(64, 0.25, "09:00")]
        for order in [documents, documents.reversed(), [documents[0], documents[1], documents[0]]] {
            let store = try await store(order, of: HealthConnectWebhook.self)
            #expect(store.held(.heartRate).map(\.value) == [64] && store.held(.skinTemperature).map(\.value) == [34.25])
        }
    }

    @Test func `a document of a phone whose clock is ahead was made when it came`() throws {
        let text = Self.posted([Self.posted("08:00", "08:30", 100)], at: "09:00")
            .replacing("2026-06-12T08", with: "2019-06-12T08").replacing("2026", with: "2190")
        try Simulation.run(seed: 1, deadline: .days(1)) { simulation in
            let link = ScriptedDocuments()
            let clock = simulation.gatewayClock
            try await PhoneDriver<HealthConnectWebhook>().withSession(
                over: .documents(link), context: Phone.context(clock: clock)
            ) { session in
                _ = link.send(text)
                let (samples, _) = try #require(try await session.nextEvents()?.first?.asSamples, "no samples")
                #expect(samples.map(\.reportedAt) == [clock.now])
            }
        }
    }

    // MARK: - What cannot be

    @Test(arguments: [
        ("step_count", "count", ["14:31:00", "14:32:00"], 361.0, "a number of steps from 0 to 360 in a minute"),
        // One alone may be of any record that begins at a full minute.
        ("step_count", "count", ["14:31:00"], 21_601.0, "a number of steps from 0 to 21600 in an hour"),
        ("step_count", "count", ["14:00:00", "14:31:00"], 361.0, "a number of steps from 0 to 360 in a minute"),
        ("step_count", "count", ["14:00:00"], 21_601.0, "a number of steps from 0 to 21600 in an hour"),
        ("step_count", "count", ["14:00:17"], 21_601.0, "a number of steps from 0 to 21600 in an hour"),
        ("walking_running_distance", "km", ["14:31:00", "14:32:00"], 0.901, "a number of m from 0 to 900 in a minute"),
        (
            "step_count", "count", ["14:02:00", "14:12:00", "14:07:00"], 1801.0,
            "a number of steps from 0 to 1800 in 5 minutes"
        ),
        ("step_count", "count", ["14:00:00", "14:30:00"], 10_801.0, "a number of steps from 0 to 10800 in 30 minutes"),
        ("step_count", "count", ["00:00:00", "00:05:00"], 1801.0, "a number of steps from 0 to 1800 in 5 minutes"),
        ("step_count", "count", ["13:30:00", "14:30:00"], 21_601.0, "a number of steps from 0 to 21600 in an hour"),
        // Without more in common they are as short as can be.
        (
            "step_count", "count", ["14:00:00", "14:05:00", "14:11:00"], 361.0,
            "a number of steps from 0 to 360 in a minute"
        ),
    ])
    func `what nobody does in a minute, or in the hour of a record, is refused also where no end is written`(
        name: String, unit: String, times: [String], amount: Double, reason: String
    ) throws {
        func found(_ amount: Double) throws -> (samples: [Sample], skipped: [String: Int]) {
            let entries = times.map { Self.steps($0, amount) }
            let text = Self.exported(name, unit, entries)
            let found = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
            return (found.samples, found.skipped)
        }
        let few = try found(amount - (unit == "km" ? 0.001 : 1))
        #expect(few.samples.count == times.count && few.skipped.isEmpty)
        let many = try found(amount)
        #expect(many.samples.isEmpty && many.skipped == [": \(name): must be \(reason)": times.count])
    }

    @Test func `sums of five minutes and of half an hour are taken, though they begin at full minutes`() throws {
        for (times, counts) in [
            (["14:00:00", "14:05:00", "14:10:00"], [412.0, 400.0, 380.0]), (["14:00:00", "14:30:00"], [4000.0, 3900]),
        ] {
            let text = Self.exported("step_count", "count", zip(times, counts).map { Self.steps($0, $1) })
            let found = try Phone.records(Array(text.utf8), of: HealthAutoExport.self)
            #expect(found.samples.compactMap(\.value) == counts && found.skipped.isEmpty)
        }
    }

    @Test func `a sum of a day at its midnight is possible`() throws {
        for times in [["00:00:00"], ["00:00:00", "12:00:00 AM"]] {
            let text = Self.exported("step_count", "count", times.map { Self.steps($0, 25_000) })
            #expect(try Phone.records(Array(text.utf8), of: HealthAutoExport.self).skipped.isEmpty)
        }
    }

    @Test func `an interval that ends before it begins is refused, and the others are read`() throws {
        let posted = Self.posted([Self.posted("08:00", "07:00", 100), Self.posted("08:00", "08:00", 100)])
        let steps = try Phone.records(Array(posted.utf8), of: HealthConnectWebhook.self)
        #expect(steps.samples.count == 1)
        #expect(steps.skipped == [": steps whose end_time is before its start_time": 1])
        let entry = #"{"start":"2026-06-12T08:00:00Z","end":"2026-06-12T07:59:00Z","qty":5}"#
        let exported = Self.exported("step_count", "count", [entry])
        let found = try Phone.records(Array(exported.utf8), of: HealthAutoExport.self)
        #expect(found.samples.isEmpty && found.skipped == [": step_count whose end is before its start": 1])
    }
}
