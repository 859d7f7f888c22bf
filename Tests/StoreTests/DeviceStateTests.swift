import Store
import Testing
import Vitals

@Suite struct DeviceStateTests {
    static let identity = DeviceIdentity(manufacturer: "Acme", model: "Band", serial: nil, firmware: "1.2")
    static let capabilities = Capabilities(
        [.heartRate: [.measure, .monitor, .restAlert], .sleep: .history], maximumHistoryDays: 14)
    static let setting = MonitorSetting(.heartRate, .upper(.resting))
    static let twin = TwinState(
        desired: MonitorSettings([setting: .number(101.5), MonitorSetting(.stress, .enabled(.alert)): .toggle(true)]),
        version: 17, reported: MonitorSettings([setting: .number(100)]), reportedVersion: 16, pending: [setting],
        drift: [MonitorSetting(.stress, .scheduleInterval)], error: "refused", updatedAt: dawn,
        waiting: MonitorPatch([setting: .number(90)]))
    static let level = AlertLevel(
        rule: AlertRule(.heartRate, .resting, .high), isActive: true, since: dawn, value: 120.5, limit: 100,
        lastID: SampleID(high: 7, low: 8), raisedAt: dawn - .minutes(9), user: 2,
        acknowledgement: Acknowledgement(by: "anna", at: dawn + .seconds(5)))

    static let changes: [DeviceChange] = [
        .identity(identity, capabilities), .features([.battery, .signal]), .cursor(.sleep, dawn), .twin(twin),
        .level(level),
        .lastSeen(dawn + .seconds(1)), .lastSync(dawn + .seconds(2)),
    ]

    @Test func `keeps every part of a device's state over a restart`() async throws {
        let folder = try StoreFolder()
        var store = try folder.open()
        #expect(try await store.load(.band) == DeviceRecord())
        try await store.save(Self.changes, of: .band)
        let ingest = Ingest(.band, [beat(3)], cursors: [.heartRate: dawn + .seconds(3)]) { decision in
            decision.highWater = [.heartRate: dawn + .seconds(3), .stress: dawn]
            decision.levels = [AlertLevel(rule: AlertRule(.stress, .high), isActive: false, since: dawn)]
            decision.unsettledDays = [
                MetricDay(.heartRate, LocalDay(number: 20_000)), MetricDay(.sleep, LocalDay(number: 1)),
            ]
        }
        _ = try await store.ingest(ingest)
        let before = try await store.load(.band)
        try await store.close()
        store = try folder.open()
        let record = try await store.load(.band)
        #expect(record == before)
        #expect(record.identity == Self.identity)
        #expect(record.capabilities == Self.capabilities)
        #expect(record.features == [.battery, .signal])
        #expect(record.cursors == [.sleep: dawn, .heartRate: dawn + .seconds(3)])
        #expect(record.twin == Self.twin)
        #expect(
            record.levels == [
                Self.level.rule: Self.level,
                AlertRule(.stress, .high): AlertLevel(rule: AlertRule(.stress, .high), isActive: false, since: dawn),
            ])
        #expect(record.highWater == [.heartRate: dawn + .seconds(3), .stress: dawn])
        #expect(
            record.unsettledDays == [
                MetricDay(.heartRate, LocalDay(number: 20_000)), MetricDay(.sleep, LocalDay(number: 1)),
            ])
        #expect(record.lastSeen == dawn + .seconds(1))
        #expect(record.lastSyncAt == dawn + .seconds(2))
        #expect(record.latest[.heartRate]?.sample == beat(3))
    }

    @Test func `the next edge is stored without the acknowledgement of the one before`() async throws {
        let store = try SQLiteStore.scratch()
        try await store.save([.level(Self.level)], of: .band)
        var next = Self.level
        (next.lastID, next.user, next.acknowledgement) = (SampleID(high: 7, low: 9), nil, nil)
        try await store.save([.level(next)], of: .band)
        #expect(try await store.load(.band).levels == [next.rule: next])
    }

    @Test func `forgets a device's state but not its samples`() async throws {
        let store = try SQLiteStore.scratch()
        try await store.save(Self.changes, of: .band)
        let day = MetricDay(.heartRate, LocalDay(number: 20_000))
        _ = try await store.ingest(Ingest(.band, [beat(0)]) { $0.unsettledDays = [day] })
        _ = try await store.load(.ring)
        #expect(try await store.knownDevices() == [.band, .ring])
        try await store.forget(.band)
        #expect(try await store.knownDevices() == [.ring])
        #expect(try await store.all().count == 1)
        var expected = DeviceRecord()
        expected.latest = [.heartRate: try #require(try await store.all().first)]
        // A device that returns on the same day gets its running day back.
        expected.unsettledDays = [day]
        #expect(try await store.load(.band) == expected)
        #expect(try await store.knownDevices() == [.band, .ring])
        #expect(try await store.ingest(Ingest(.band, [beat(0)])).known == 1)
    }
}
