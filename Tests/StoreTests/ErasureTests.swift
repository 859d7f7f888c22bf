import Foundation
import Testing
import Vitals

@testable import Store

/// What `erase` leaves of a person in the files of a store: nothing.
@Suite struct ErasureTests {
    /// What is searched for: texts that only the erased device's rows have.
    private static let name = "anna-whose-bytes-are-sought"
    private static let valueID = SampleID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    private static let rule = AlertRule(.heartRate, .resting, .high)
    private static let erasedAt = dawn + .hours(2)
    private static let day = LocalDay(number: 20_775)

    private static func alert(of user: Int? = nil) -> AlertEvent {
        AlertEvent(
            id: valueID, rule: rule, edge: .raised, value: 120.5, limit: 100, origin: .gateway, measuredAt: dawn,
            raisedAt: dawn, sampleID: valueID, user: user)
    }

    /// Warns of two things. Returns the places of those that were known.
    private func warned(_ store: SQLiteStore) async throws -> Set<Int> {
        let events = [AlertRule(.irregularRhythm), AlertRule(.fibrillation)].map { rule in
            AlertEvent(
                id: Self.valueID, rule: rule, edge: .raised, value: nil, limit: nil, origin: .device,
                measuredAt: dawn, raisedAt: dawn, sampleID: nil)
        }
        return try await store.ingest(
            Ingest(.band, []) { $0.facts = events.map { (.alert, .alert($0, isLate: true)) } }
        ).repeatedFacts
    }

    /// A store after a crash, with everything that may have a person's data, also in pages that were freed and in copies beside it.
    private func filled() async throws -> StoreFolder {
        let folder = try StoreFolder()
        var store = try folder.open()
        try await store.save(
            [
                .identity(
                    DeviceIdentity(manufacturer: nil, model: "Band", serial: Self.name, firmware: nil),
                    DeviceStateTests.capabilities),
                .level(
                    AlertLevel(
                        rule: Self.rule, isActive: true, since: dawn, value: 120.5, limit: 100, lastID: Self.valueID,
                        acknowledgement: Acknowledgement(by: Self.name, at: dawn))),
                .cursor(.heartRate, dawn),
            ], of: .band)
        try await store.saveNotes(["a": Array(Self.name.utf8)], of: .band)
        #expect(try await warned(store) == [])
        for number in 0..<3 {
            try await store.complete(
                StoredAnswer(
                    key: "band-1 history \(number)", topic: "answers", correlation: nil,
                    payload: Array("\(Self.name) \(Self.valueID)".utf8), at: dawn - .days(number)))
        }
        // Old answers go, and leave their bytes in free pages.
        _ = try await store.clean(at: dawn + .minutes(1))
        // The first part is in the main file, and the second one in the log.
        try await store.close()
        store = try folder.open()
        for device in [DeviceID.band, .ring] {
            _ = try await store.ingest(
                Ingest(device, (0..<300).map { beat($0, 61.25) }) { decision in
                    if device == .band { decision.facts.append((.alert, .alert(Self.alert(), isLate: false))) }
                })
            _ = try await store.settle(
                DailySummary(metric: .heartRate, day: Self.day, samples: [StoredSample]()), of: device, isFinal: true,
                at: dawn)
        }
        let crashed = try folder.crashed()
        for suffix in [".corrupt-20261118", ".replaced-20261118", ".version-0", ".restoring.part"] {
            try FileManager.default.copyItem(atPath: folder.path, toPath: crashed.path + suffix)
            try FileManager.default.copyItem(atPath: folder.path + "-wal", toPath: crashed.path + suffix + "-wal")
        }
        try await store.close()
        return crashed
    }

    /// The files of a folder that have one of these texts.
    private func files(in folder: URL, with texts: [String]) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter { name in
            let data = try Data(contentsOf: folder.appending(path: name))
            return texts.contains { data.range(of: Data($0.utf8)) != nil }
        }
    }

    private static let sought = [name, "\(valueID)"]
    private static let band = StoreErasure.Target(.band, [.device], isConfigured: true)

    private func erase(_ targets: [StoreErasure.Target], in path: String, atStep: () -> Void = {}) throws -> Int {
        let erasure = try StoreErasure(of: path)
        let count = try erasure.erase(targets, at: Self.erasedAt, atStep: atStep)
        try erasure.complete(targets)
        return count
    }

    @Test func `no byte of what was erased is in the files of the store, and another device's samples stay`()
        async throws
    {
        let folder = try await filled()
        let before = try files(in: folder.url, with: Self.sought)
        #expect(before.count >= 9)
        #expect(StoreErasure.copies(of: folder.path).count == 8)
        let count = try erase([Self.band], in: folder.path)
        #expect(count == 300)
        let after = try files(in: folder.url, with: Self.sought)
        #expect(after.isEmpty)
        #expect(StoreErasure.copies(of: folder.path).isEmpty)
        #expect(try StoreCheck.findings(in: folder.path).isEmpty)
        let store = try folder.open()
        #expect(try await store.all(of: .ring).count == 300)
        #expect(try await store.all().isEmpty)
        var expected = DeviceRecord()
        expected.erasures = Erasures([.device: Self.erasedAt])
        #expect(try await store.load(.band) == expected)
        #expect(try await store.notes(of: .band).isEmpty)
        #expect(try await store.incompleteErasures().isEmpty)
        // Of the band there is nothing but the gap that says so.
        let facts = try await store.facts(1...1_000, limit: 1_000).filter { $0.device == .band }
        #expect(facts.map { $0.gap?.reason } == [.erased])
        #expect(facts.first?.gap?.metric == nil && facts.first?.gap?.from == nil)
        #expect(facts.first?.gap?.sequences.isEmpty == false)
        // Not even when it warned of what is known.
        #expect(try await warned(store) == [])
        #expect(try await warned(store) == [0, 1])
    }

    @Test func `after a crash between two steps nothing of it is served, and erasing again leaves no byte`()
        async throws
    {
        let folder = try await filled()
        var images: [URL] = []
        let url = folder.url
        _ = try erase([Self.band], in: folder.path) {
            let image = FileManager.default.temporaryDirectory.appending(path: "image-\(UUID().uuidString)")
            do { try FileManager.default.copyItem(at: url, to: image) } catch { Issue.record("no image: \(error)") }
            images.append(image)
        }
        defer { for image in images { try? FileManager.default.removeItem(at: image) } }
        // After the commit, the vacuum, the shortening of the log, and each copy.
        #expect(images.count == 11)
        for image in images {
            let path = image.appending(path: "vitals.sqlite").path
            let store = try SQLiteStore(path: path, now: StoreFolder.now, newIdentity: SampleID(high: 7, low: 0))
            #expect(store.opening == .existing)
            #expect(try await store.all().isEmpty)
            #expect(try await store.all(of: .ring).count == 300)
            let record = try await store.load(.band)
            #expect(record.erasures.cover(dawn, user: nil))
            #expect(try await store.incompleteErasures() == [.band])
            try await store.close()
            _ = try erase([Self.band], in: path)
            let left = try files(in: image, with: Self.sought)
            #expect(left.isEmpty)
        }
    }

    @Test func `that a person has seen alerts of others goes with the answers to it, and the alerts stay`() async throws
    {
        let folder = try StoreFolder()
        let store = try folder.open()
        let stress = AlertRule(.stress, .high)
        func level(_ rule: AlertRule, by person: String?) -> AlertLevel {
            AlertLevel(
                rule: rule, isActive: true, since: dawn, lastID: Self.valueID,
                acknowledgement: person.map { Acknowledgement(by: $0, at: dawn) })
        }
        try await store.save([.level(level(Self.rule, by: Self.name)), .level(level(stress, by: "ben"))], of: .band)
        for command in ["acknowledge", "history"] {
            try await store.complete(
                StoredAnswer(
                    key: "band-1 \(command) 1", topic: "answers", correlation: nil,
                    payload: Array(#"{"command":"\#(command)","message":"\#(Self.name) was first"}"#.utf8), at: dawn))
        }
        let found = try StoreErasure.acknowledged(by: Self.name, in: folder.path)
        #expect(found.map(\.device) == [.band] && found.map(\.rule) == [Self.rule])
        try await store.close()
        let count = try StoreErasure(of: folder.path).erase([], acknowledgedBy: Self.name, at: Self.erasedAt)
        #expect(count == 0)
        let again = try folder.open()
        #expect(
            try await again.load(.band).levels == [
                Self.rule: level(Self.rule, by: nil), stress: level(stress, by: "ben"),
            ])
        #expect(try await again.pending(.answer, after: 0, limit: 9).count == 1)
        try await again.close()
        #expect(try StoreCheck.findings(in: folder.path).isEmpty)
    }

    @Test func `of a shared device only the person's user slot goes, and its days are counted again`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        func sample(_ second: Int, of user: Int?) -> Sample {
            var sample = beat(second)
            sample.user = user
            return sample
        }
        for user in [1, 2] {
            _ = try await store.ingest(
                Ingest(device: .band, samples: (0..<5).map { sample($0 * 10 + user, of: user) }, receivedAt: dawn) {
                    outcomes in
                    var decision = IngestOutcome()
                    decision.facts = [
                        (
                            .live,
                            .measurement(
                                Fact.Measurement(
                                    metric: .heartRate, source: .live, isHistorical: false, user: user,
                                    samples: outcomes.map(\.stored)))
                        ),
                        (.alert, .alert(Self.alert(of: user), isLate: false)),
                    ]
                    return decision
                })
        }
        let summary = DailySummary(metric: .heartRate, day: Self.day, samples: [StoredSample]())
        _ = try await store.settle(summary, of: .band, isFinal: true, at: dawn)
        try await store.close()
        let count = try erase([StoreErasure.Target(.band, [.user(2)], isConfigured: true)], in: folder.path)
        #expect(count == 5)
        let again = try folder.open()
        #expect(try await again.all().map(\.sample.user) == [1, 1, 1, 1, 1])
        let record = try await again.load(.band)
        #expect(record.latest[.heartRate]?.sample == sample(41, of: 1))
        #expect(record.unsettledDays == [MetricDay(.heartRate, Self.day)])
        #expect(record.erasures.cover(dawn, user: 2) && !record.erasures.cover(dawn, user: 1))
        #expect(!record.erasures.cover(Self.erasedAt, user: 2))
        // The measurement and the alert of the other one wait as before.
        #expect(try await again.pendingFacts(.live, after: 0, limit: 9).map(\.sequence) == [1])
        #expect(try await again.pendingFacts(.alert, after: 0, limit: 9).map(\.sequence) == [2, 6])
        #expect(try await again.settle(summary, of: .band, isFinal: true, at: dawn).revision == 2)
        try await again.close()
        #expect(try StoreCheck.findings(in: folder.path).isEmpty)
    }

    @Test func `a device that is not configured any more goes with its name`() async throws {
        let folder = try await filled()
        _ = try erase([StoreErasure.Target(.band, [.user(3)], isConfigured: false)], in: folder.path)
        let left = try files(in: folder.url, with: Self.sought + ["band-1"])
        #expect(left.isEmpty)
        #expect(try StoreErasure.devices(in: folder.path) == [.ring])
    }

    @Test func `numbers that are never sent are announced, at most five hundred ranges in a gap`() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let pairs = StoreErasure.gapRanges + 1
        _ = try await store.ingest(
            Ingest(device: .band, samples: [beat(0)], receivedAt: dawn) { outcomes in
                var decision = IngestOutcome()
                for number in 0..<(2 * pairs) {
                    let measurement = Fact.Measurement(
                        metric: .heartRate, source: .live, isHistorical: false, user: number % 2,
                        samples: outcomes.map(\.stored))
                    decision.facts.append((.live, .measurement(measurement)))
                }
                return decision
            })
        try await store.close()
        _ = try erase([StoreErasure.Target(.band, [.user(0)], isConfigured: true)], in: folder.path)
        let again = try folder.open()
        let gaps = try await again.pendingFacts(.alert, after: 0, limit: 9).compactMap(\.gap)
        #expect(gaps.map(\.sequences.count) == [StoreErasure.gapRanges, 1])
        #expect(gaps.first?.sequences.first == 1...1)
    }

    @Test func `a sample of a device whose clock is ahead is not taken again, and an impossible one closes nothing`()
        async throws
    {
        for (ahead, expected) in [
            (Duration.minutes(4), Duration.minutes(4) + .milliseconds(1)), (.days(900), .minutes(5)),
        ] {
            let folder = try StoreFolder()
            let store = try folder.open()
            let sample = Sample(metric: .heartRate, start: Self.erasedAt + ahead, reading: .value(60))
            _ = try await store.ingest(Ingest(.band, [sample]))
            try await store.close()
            _ = try erase([Self.band], in: folder.path)
            let record = try await folder.open().load(.band)
            #expect(record.erasures.moments == [.device: Self.erasedAt + expected])
        }
    }

    @Test
    func `what was erased is taken again when the device is forgotten, or from a date on, with its history read anew`()
        async throws
    {
        let folder = try await filled()
        _ = try erase([Self.band], in: folder.path)
        let store = try folder.open()
        try await store.save([.cursor(.heartRate, dawn)], of: .band)
        try await store.saveNotes(["a": [1]], of: .band)
        try await store.save([.takenAgain(from: dawn)], of: .band)
        var record = try await store.load(.band)
        #expect(record.erasures.moments == [.device: dawn])
        #expect(record.cursors.isEmpty)
        #expect(try await store.notes(of: .band).isEmpty)
        try await store.save([.takenAgain(from: dawn + .days(1))], of: .band)
        record = try await store.load(.band)
        #expect(record.erasures.moments == [.device: dawn])
        try await store.forget(.band)
        record = try await store.load(.band)
        #expect(record.erasures == Erasures())
    }

    private static func refusal(of path: String) -> String? {
        do { _ = try StoreErasure(of: path) } catch { return "\(error)" }
        return nil
    }

    @Test func `a store in use, a damaged one, and none are refused with what to do`() async throws {
        let folder = try StoreFolder()
        #expect(Self.refusal(of: folder.path)?.contains("There is no store") == true)
        let store = try folder.open()
        #expect(Self.refusal(of: folder.path)?.contains("Another gateway uses this store") == true)
        try await store.close()
        #expect(Self.refusal(of: folder.path) == nil)
        StorePlace(path: folder.path).markDamaged()
        #expect(Self.refusal(of: folder.path)?.contains("Start the gateway once") == true)
    }
}
