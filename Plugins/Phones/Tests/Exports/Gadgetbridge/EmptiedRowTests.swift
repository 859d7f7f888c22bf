import Synchronization
import TestSupport
import Testing
import Vitals

@testable import Phones

/// Rows that had a value in an earlier export, and have none now: the day must not keep it.
@Suite struct EmptiedRowTests {
    private static let table = "XIAOMI_ACTIVITY_SAMPLE"
    private let phone: GadgetbridgePhone
    private let midnight = GadgetbridgePhone.midnight

    init() throws { phone = try GadgetbridgePhone() }

    /// Minutes with steps and heart rates.
    private func minutes(_ rows: [(steps: Int, rate: Int)]) throws {
        try phone.table(Self.table, "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!")
        try phone.insert(
            Self.table,
            rows.enumerated().map { [midnight + Int64($0.offset + 1) * 60, 0, $0.element.steps, 0, $0.element.rate] })
    }

    /// What a gateway has of the first export and of what came then, as events.
    private func held(
        after change: @escaping @Sendable (GadgetbridgePhone) throws -> Void
    ) async throws -> (store: ConsumedStore, events: [Sample]) {
        let found = Mutex<(first: [Sample], events: [Sample])>(([], []))
        try Scenario.run(with: phone) { [phone] scenario in
            try await scenario.pass(.seconds(80))
            let (kept, before) = (scenario.kept, scenario.arrivals.count)
            #expect(!scenario.arrivals.contains { $0.claim == .correction })
            found.withLock { $0.first = kept.metrics.flatMap { kept.samples($0) } }
            try change(phone)
            try await scenario.pass(.seconds(80))
            found.withLock { $0.events = Array(scenario.arrivals.dropFirst(before)) }
        }
        let (first, events) = found.withLock { $0 }
        let store = try ConsumedStore(.lastReported, device: try #require(DeviceID("band")))
        try await store.ingest(first)
        try await store.ingest(events)
        return (store, events)
    }

    @Test func `steps that the next export has no more are 0, and its heart rate is withdrawn`() async throws {
        try minutes([(6, 80), (18, 82), (10, 84), (0, 255)])
        let (store, events) = try await held { phone in
            try phone.run("UPDATE \(Self.table) SET STEPS = 0, HEART_RATE = 255 WHERE STEPS = 18")
        }
        #expect(store.held(.steps).map(\.value) == [6, 0, 10])
        #expect(store.held(.heartRate).map(\.value) == [80, 84])
        let stored = try await store.stored(.steps)
        #expect(stored.map(\.value) == [6, 0, 10])
        // The minute in which nobody ever walked asks, too.
        #expect(events.filter { $0.claim == .correction && $0.metric == .steps }.count == 2)
    }

    @Test func `a day that has nothing left is corrected as a whole`() async throws {
        try minutes([(6, 80), (18, 82)])
        let (store, _) = try await held { phone in
            try phone.run("UPDATE \(Self.table) SET STEPS = -1, HEART_RATE = -1")
        }
        #expect(store.held(.steps).map(\.value) == [0, 0] && store.held(.heartRate).isEmpty)
    }

    @Test func `minutes without steps are no samples`() async throws {
        try minutes([(6, 80), (0, 81), (-1, 82)])
        let (store, _) = try await held { phone in
            try phone.insert(
                Self.table,
                [[GadgetbridgePhone.midnight + 600, 0, 12, 0, 90], [GadgetbridgePhone.midnight + 660, 0, 0, 0, 91]])
        }
        #expect(store.held(.steps).map(\.value) == [6, 12])
        let stored = try await store.stored(.steps)
        #expect(stored.count == 2)
        #expect(store.held(.heartRate).count == 5)
    }

    @Test func `empty rows of days before a running count are not kept waiting`() throws {
        // A row every half hour, on three days.
        var rows: [(minute: Int64, steps: Int)] = [(1, 10)]
        for place in Int64(1)...144 { rows.append((place * 30, -1)) }
        rows.append((144 * 30 + 1, 5))
        try counts(rows)
        let samples = try all(.steps)
        #expect(samples.filter { $0.claim == .correction }.count == 144 && samples.count == 146)
        #expect(samples.map(\.start) == samples.map(\.start).sorted())
    }

    // MARK: - Read directly

    /// Rows with a running count at these minutes after midnight.
    private func counts(_ rows: [(minute: Int64, steps: Int)]) throws {
        try phone.table(
            "CMF_ACTIVITY_SAMPLE", "RAW_INTENSITY I!, STEPS I!, RAW_KIND I!, HEART_RATE I!",
            rows.map { [midnight + $0.minute * 60, 0, $0.steps, 0, 0] })
    }

    /// All of a metric, with what takes back the values of empty rows, in pages of two.
    private func all(_ metric: Metric) throws -> [Sample] {
        try phone.open().samples(metric, zone: "UTC", limit: 2, takesBack: true)
    }

    /// What a gateway has of a metric after one export, and after the next one.
    private func held(_ metric: Metric, after sql: String) async throws -> [[Double?]] {
        let store = try ConsumedStore(.lastReported, device: try #require(DeviceID("band")))
        var held: [[Double?]] = []
        for statement in ["", sql] {
            try phone.run(statement)
            try await store.ingest(try all(metric))
            held.append(store.held(metric).map(\.value))
        }
        return held
    }

    @Test func `a row that a running count has no more adds nothing, and the next one what it gathered`() async throws {
        try counts([(1, 10), (2, 25), (3, 25), (4, 40)])
        let held = try await held(.steps, after: "UPDATE CMF_ACTIVITY_SAMPLE SET STEPS = -1 WHERE STEPS = 25")
        #expect(held == [[10, 15, 15], [10, 0, 30]])
    }

    @Test func `what begins before an empty row of a running count comes before it`() throws {
        // 1,200 steps in four minutes, of which two rows say nothing: the first of them begins as the steps do.
        try counts([(10, 10), (11, -1), (12, -1), (14, 1210), (15, 1210)])
        let samples = try all(.steps)
        #expect(samples.map { $0.claim == .correction ? nil : $0.value } == [10, 1200, nil, nil])
        #expect(samples.map(\.start) == [9, 10, 11, 14].map { GadgetbridgePhone.at(0, $0) })
    }

    @Test func `what another row says of the same time is not corrected`() async throws {
        try minutes([(6, 80), (18, 82)])
        try phone.table("OTHER_ACTIVITY_SAMPLE", "STEPS I!", [[midnight + 120, 18]])
        let held = try await held(.steps, after: "UPDATE \(Self.table) SET STEPS = 0 WHERE STEPS = 18")
        #expect(held == [[6, 18], [6, 18]])
    }

    @Test func `a drink that another entry takes back leaves nothing of its day`() async throws {
        try phone.table(
            "GENERIC_HYDRATION_SAMPLE", "DAY I!, VOLUME_ML R!",
            [[midnight + 3600, 1, 250.0], [midnight + 7200, 1, 300.0]])
        let held = try await held(
            .hydration, after: "INSERT INTO GENERIC_HYDRATION_SAMPLE VALUES (\(midnight + 9000), 1, 1, 1, -550.0)")
        #expect(held == [[550], [0]])
    }

    @Test func `a night counts with an earlier end and a later begin in the next export`() async throws {
        func night(_ begin: Int64, _ end: Int64) -> String {
            """
            DELETE FROM XIAOMI_SLEEP_TIME_SAMPLE;
            INSERT INTO XIAOMI_SLEEP_TIME_SAMPLE VALUES (\((midnight + begin * 60) * 1000), 1, 1, \((midnight + end * 60) * 1000), 1, \(end - begin), 0, \(end - begin), 0, 0)
            """
        }
        try phone.table(
            "XIAOMI_SLEEP_TIME_SAMPLE",
            """
            WAKEUP_TIME I, IS_AWAKE I, TOTAL_DURATION I, DEEP_SLEEP_DURATION I, LIGHT_SLEEP_DURATION I, \
            REM_SLEEP_DURATION I, AWAKE_DURATION I
            """)
        try phone.run(night(0, 480))
        #expect(try await held(.sleep, after: night(0, 420)) == [[480], [420]])
        #expect(try await held(.sleep, after: night(60, 400)) == [[420], [340]])
    }
}
