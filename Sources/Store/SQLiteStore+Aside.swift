package import StoreAPI
package import Vitals

extension SQLiteStore {
    package nonisolated func setAside(_ facts: [RefusedFact], at moment: Timestamp) async throws(StoreError) {
        try await write { try $0.setAside(facts, at: moment) }
    }

    package nonisolated func forgetSetAside(_ numbers: [Int64]) async throws(StoreError) {
        try await write { try $0.forgetSetAside(numbers) }
    }
}
