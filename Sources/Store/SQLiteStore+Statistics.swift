package import Vitals

extension SQLiteStore: StatisticsStore {
    package nonisolated func keepPendingStatistics(_ isKept: Bool, at moment: Timestamp) async throws(StoreError) {
        try await write { try $0.keepPendingStatistics(isKept, at: moment) }
    }

    package nonisolated func pendingStatistics() async throws(StoreError) -> [PendingStatistics] {
        try await reader.read { try PendingTable.all(in: $0) }
    }

    package nonisolated func setPending(
        _ hours: ClosedRange<Hour>?, isJoining: Bool, of entry: PendingStatistics
    ) async throws(StoreError) -> Bool {
        try await write { try $0.setPending(hours, isJoining: isJoining, of: entry) }
    }

    package nonisolated func splitPending(
        _ entry: PendingStatistics, among sensors: [String]
    ) async throws(StoreError) -> Bool {
        try await write { try $0.splitPending(entry, among: sensors) }
    }

    package nonisolated func history(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await samples(
            of: device, metric: metric, starting: range, isUserInitiated: nil, after: after, limit: limit)
    }
}
