package import StoreAPI
package import Vitals

extension SQLiteStore {
    package nonisolated func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await reader.read {
            try SampleTable.samples(
                of: device, metric: metric, starting: range, isUserInitiated: isUserInitiated, after: after,
                limit: limit, in: $0)
        }
    }

    package nonisolated func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        try await reader.read {
            try DayTable.days(of: device, metric: metric, in: range, limit: limit, in: $0)
        }
    }

    package nonisolated func unanswered() async throws(StoreError) -> [(key: String, envelope: CommandEnvelope)] {
        try await reader.read { try CommandTable.unanswered(in: $0) }
    }

    package nonisolated func pending(
        _ lane: Lane, after: Int64, limit: Int
    ) async throws(StoreError) -> [OutboxEntry] {
        try await reader.read { database in
            if lane == .answer { return try CommandTable.pending(after: after, limit: limit, in: database) }
            return try OutboxTable.pending(lane, after: after, limit: limit, in: database).map { .fact($0) }
        }
    }

    package nonisolated func facts(
        _ numbers: ClosedRange<Int64>, limit: Int
    ) async throws(StoreError) -> [Fact] {
        try await reader.read { try OutboxTable.facts(numbers, limit: limit, in: $0) }
    }

    package nonisolated func statistics() async throws(StoreError) -> StoreStatistics {
        let file = file
        return try await reader.read { database in
            var statistics = try OutboxTable.statistics(in: database)
            statistics.bytes = file.bytes
            statistics.lastError = file.lastError?.message
            return statistics
        }
    }

    package nonisolated func knownDevices() async throws(StoreError) -> [DeviceID] {
        try await reader.read { try DeviceQueries.known(in: $0) }
    }
}
