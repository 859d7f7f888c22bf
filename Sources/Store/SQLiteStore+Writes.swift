package import Vitals

extension SQLiteStore {
    /// - The store may call `decide` again for the same ingest if another request of its transaction failed; only the
    ///   last decision counts.
    package nonisolated func ingest(_ ingest: Ingest) async throws(StoreError) -> IngestResult {
        let marksPending = options.marksPendingStatistics
        return try await write(
            weight: ingest.samples.reduce(0) { $0 + $1.weight },
            waiting: ingest.waitsForBatch ? options.batchWait : .zero
        ) { try $0.ingest(ingest, marksPending: marksPending) }
    }

    package nonisolated func load(_ device: DeviceID) async throws(StoreError) -> DeviceRecord {
        try await write { transaction in
            if transaction.cache.journal.hasContent { try transaction.fold() }
            try transaction.save([], of: device)
            return try DeviceQueries.record(of: device, in: transaction.database)
        }
    }

    package nonisolated func save(_ changes: [DeviceChange], of device: DeviceID) async throws(StoreError) {
        try await write { try $0.save(changes, of: device) }
    }

    package nonisolated func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at moment: Timestamp
    ) async throws(StoreError) -> DayRecord {
        let options = options
        return try await write {
            try $0.settle(summary, of: device, isFinal: isFinal, at: moment, options: options)
        }
    }

    package nonisolated func storeDeviceSummary(
        _ summary: DailySummary, of device: DeviceID, at moment: Timestamp
    ) async throws(StoreError) -> Bool {
        let options = options
        return try await write { try $0.store(deviceSummary: summary, of: device, at: moment, options: options) }
    }

    package nonisolated func report(_ gap: Gap, of devices: [DeviceID]) async throws(StoreError) {
        try await write { transaction in
            for device in devices { try transaction.publish(.gap(gap), in: .alert, of: device, at: gap.at) }
        }
    }

    package nonisolated func saveNotes(
        _ changes: [String: [UInt8]?], of device: DeviceID
    ) async throws(StoreError) {
        try await write { try $0.saveNotes(changes, of: device) }
    }

    package nonisolated func begin(
        _ envelope: CommandEnvelope, key: String, at moment: Timestamp
    ) async throws(StoreError) -> CommandBeginning {
        let options = options
        return try await write { try $0.begin(envelope, key: key, at: moment, options: options) }
    }

    package nonisolated func complete(_ answer: StoredAnswer) async throws(StoreError) {
        let options = options
        guard try await write({ try $0.complete(answer, options: options) }) else {
            throw StoreError(.answersWait, "Too many answers wait for the broker.")
        }
    }

    package nonisolated func acknowledge(_ lane: Lane, through: Int64) async throws(StoreError) {
        try await write { try $0.acknowledge(lane, through: through) }
    }

    package nonisolated func clean(at moment: Timestamp, byAge: Bool) async throws(StoreError) -> Bool {
        let options = options
        return try await write { try $0.clean(at: moment, byAge: byAge, options: options) }
    }

    package nonisolated func forget(_ device: DeviceID) async throws(StoreError) {
        try await write { try $0.forget(device) }
    }

    package nonisolated func quarantine(_ facts: [RefusedFact], at moment: Timestamp) async throws(StoreError) {
        try await write { try $0.quarantine(facts, at: moment) }
    }

    package nonisolated func releaseQuarantined(_ numbers: [Int64]) async throws(StoreError) {
        try await write { try $0.releaseQuarantined(numbers) }
    }
}
