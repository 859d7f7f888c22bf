import TestSupport
import Testing
import Vitals

@testable import Phones

/// The counters and values that Health Auto Export has beside heart rates and steps, worked out by hand.
@Suite struct ExportedKindTests {
    private func records(_ name: String = "health-auto-export-kinds.json") throws -> (
        samples: [Sample], skipped: [String: Int]
    ) {
        let found = try Phone.records(Phone.document(name), of: HealthAutoExport.self)
        return (found.samples, found.skipped)
    }

    @Test func `counters and values of every kind are read, in the gateway's units`() throws {
        let samples = try records().samples
        let found = Dictionary(grouping: samples) { sample in
            sample.qualifiers.values.reduce(sample.metric.rawValue) { "\($0) \($1)" }
        }
        let expected: [String: [Double]] = [
            // 0.1 mi × 1609.344 = 160.9344 m; 25 yd × 0.9144 = 22.86 m.
            "distance walking_running": [42.5, 160.934], "distance cycling": [1250], "distance swimming": [22.86],
            "distance wheelchair": [30],
            // 8.368 kJ / 4.184 = 2 kcal; 2092 kJ / 4.184 = 500 kcal.
            "active_energy": [2, 3.25], "basal_energy": [1.15], "dietary_energy": [500],
            "floors": [12], "exercise_minutes": [1], "stand_hours": [1, 1],
            // 8 fl oz × 29.5735295625 = 236.5882365 mL.
            "hydration": [250, 236.588], "protein": [20.5], "carbohydrates": [60], "fat": [15.25],
            "vo2_max": [45.2, 44.8], "body_fat": [22.5, 21.5],
            // 120 lb × 0.45359237 = 54.4310844 kg; 6 ft × 30.48 = 182.88 cm.
            "lean_mass": [54.431], "body_mass_index": [24.1], "height": [178, 182.88],
            "heart_rate_recovery": [31], "walking_heart_rate": [98.5], "noise_exposure": [61.4, 72.5],
        ]
        #expect(found.mapValues { $0.compactMap(\.value) } == expected)
        #expect(samples.allSatisfy { $0.isValid })
    }

    @Test func `what is of a day is one of its hours, also a count`() throws {
        let ofDay = try records().samples.filter { $0.duration == .days(1) }
        #expect(ofDay.map(\.metric) == [.floors, .walkingHeartRate])
        #expect(ofDay.allSatisfy { $0.start == Phone.at("2026-01-04T23:00:00Z") })
    }

    @Test func `units that are unknown or missing are refused by name, and nothing counted hides nothing`() throws {
        #expect(
            try records().skipped == [
                "walking_running_distance in the unit furlong": 1, "active_energy without a unit": 1,
                "dietary_water in the unit cup": 1, "vo2_max in the unit L/min": 1,
                "height of a whole day, which has no time; in the app, choose minutes": 1,
                "protein that is no number of g": 1, "an interval without active_energy": 1,
                "the gateway has no apple_stand_time": 1,
            ])
    }

    @Test func `every metric that is announced is in a document`() throws {
        let found = try ["health-auto-export.json", "health-auto-export-kinds.json"].flatMap { name in
            try records(name).samples.map(\.metric)
        }
        #expect(Set(found) == Set(HealthAutoExport.metrics))
    }

    /// A walk of half an hour in minutes, that sources count.
    private func walk(_ name: String, _ unit: String, of sources: [(name: String, amount: Double)]) throws -> [Sample] {
        let start = Phone.at("2026-06-12T07:00:00Z")
        let entries = (0..<30).flatMap { minute in
            sources.map { "{\"date\":\"\(start + .minutes(minute))\",\"qty\":\($0.amount),\"source\":\"\($0.name)\"}" }
        }
        let list = "{\"name\":\"\(name)\",\"units\":\"\(unit)\",\"data\":[\(entries.joined(separator: ","))]}"
        return try Phone.records(Array("{\"data\":{\"metrics\":[\(list)]}}".utf8), of: HealthAutoExport.self).samples
    }

    @Test(
        arguments: [
            ("step_count", "count", .steps, 240), ("walking_running_distance", "m", .distance, 240),
            ("active_energy", "kcal", .activeEnergy, 240), ("flights_climbed", "count", .floors, 240),
        ] as [(String, String, Metric, Double)])
    func `a walk that a watch and a phone count, counts once and says that the watch did`(
        name: String, unit: String, metric: Metric, total: Double
    ) async throws {
        let (watch, phone) = ((name: "Anna's Apple Watch", amount: 8.0), (name: "iPhone", amount: 9.0))
        for sources in [[watch, phone], [phone, watch]] {
            let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
            let both = try walk(name, unit, of: sources)
            let alone = try walk(name, unit, of: [phone])
            for document in [alone, both, alone] { try await store.ingest(document) }
            let held = store.held(metric)
            #expect(held.count == 30 && held.compactMap(\.value).reduce(0, +) == total)
            #expect(Set(held.map(\.origin?.name)) == ["Anna's Apple Watch"])
        }
    }

    @Test func `a ride and a walk in the same minutes are two distances`() async throws {
        let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
        try await store.ingest(try walk("walking_running_distance", "m", of: [("Watch", 5), ("iPhone", 4)]))
        try await store.ingest(try walk("cycling_distance", "m", of: [("iPhone", 200)]))
        #expect(store.held(.distance).compactMap(\.value).reduce(0, +) == 30 * 205)
    }

    @Test func `what headphones play is kept beside what is around them`() async throws {
        let samples = try records().samples.filter { $0.metric == .noiseExposure }
        #expect(samples.map(\.origin?.name) == ["iPhone", "iPhone headphones"])
        for samples in [samples, samples.reversed()] {
            let store = try ConsumedStore(HealthAutoExport.overlaps, device: try #require(DeviceID("phone")))
            for _ in 0..<2 { try await store.ingest(samples) }
            #expect(Set(store.held(.noiseExposure).map(\.value)) == [61.4, 72.5])
        }
    }
}
