package import Vitals

extension SQLiteStore {
    package nonisolated func quarantine(_ facts: [RefusedFact], at moment: Timestamp) async throws(StoreError) {
        try await write { try $0.quarantine(facts, at: moment) }
    }

    package nonisolated func releaseQuarantined(_ numbers: [Int64]) async throws(StoreError) {
        try await write { try $0.releaseQuarantined(numbers) }
    }
}
