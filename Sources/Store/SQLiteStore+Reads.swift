import Synchronization
package import Vitals

extension SQLiteStore {
    /// Moves what a reader would miss from the journal to the tables.
    nonisolated func foldJournal() async throws(StoreError) {
        guard summary.withLock({ $0?.hasJournal != false }) else { return }
        try await write(isUpkeep: true) { try $0.fold() }
    }

    package nonisolated func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await foldJournal()
        return try await reader.read {
            try SampleTable.samples(
                of: device, metric: metric, starting: range, isUserInitiated: isUserInitiated, after: after,
                limit: limit, in: $0)
        }
    }

    package nonisolated func samplesWithOffset(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        // None of them is ever in the journal.
        try await reader.read {
            try SampleTable.samples(
                of: device, metric: metric, starting: range, isUserInitiated: nil, after: after, limit: limit,
                withOffset: true, in: $0)
        }
    }

    package nonisolated func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        try await reader.read {
            try DayTable.days(of: device, metric: metric, in: range, limit: limit, in: $0)
        }
    }

    package nonisolated func notes(of device: DeviceID) async throws(StoreError) -> [String: [UInt8]] {
        try await reader.read { try NoteTable.notes(of: device, in: $0) }
    }

    package nonisolated func unanswered(
        after: Int64, limit: Int
    ) async throws(StoreError) -> [UnansweredCommand] {
        try await reader.read { try CommandTable.unanswered(after: after, limit: limit, in: $0) }
    }

    package nonisolated func pending(
        _ lane: Lane, after: Int64, limit: Int
    ) async throws(StoreError) -> [OutboxEntry] {
        if lane == .answer {
            let summary = summary.withLock { $0 }
            return try await reader.read { database in
                let lanes = try summary?.lanes ?? Counters.current(in: database).lanes
                let after = max(after, lanes[lane.rawValue].acknowledged)
                return try CommandTable.pending(after: after, limit: limit, in: database)
            }
        }
        try await foldJournal()
        return try await reader.read { database in
            try OutboxTable.pending(lane, after: after, limit: limit, in: database).map { .fact($0) }
        }
    }

    package nonisolated func facts(
        _ numbers: ClosedRange<Int64>, limit: Int
    ) async throws(StoreError) -> [Fact] {
        try await foldJournal()
        return try await reader.read { try OutboxTable.facts(numbers, limit: limit, in: $0) }
    }

    package nonisolated func statistics() async throws(StoreError) -> StoreStatistics {
        let file = file
        let summary = summary.withLock { $0 }
        return try await reader.read { database in
            var statistics = try OutboxTable.statistics(summary, in: database)
            statistics.bytes = file.bytes
            statistics.lastError = file.lastError?.message
            return statistics
        }
    }

    /// The devices of which an erasure was cut short: their topics, or the rest of the store's pages, may have what was erased.
    package nonisolated func incompleteErasures() async throws(StoreError) -> [DeviceID] {
        try await reader.read { try ErasureTable.incomplete(in: $0) }
    }

    /// Returns when the reader takes its turn: whether no read hangs.
    package nonisolated func answerOfReader() async { await reader.answer() }

    package nonisolated func knownDevices() async throws(StoreError) -> [DeviceID] {
        try await reader.read { try DeviceQueries.known(in: $0) }
    }
}
