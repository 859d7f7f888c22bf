package import Vitals

/// Sends facts again by their numbers, between the states.
package struct Replay: Sendable {
    private let store: any OutboxStore
    private let retained: RetainedStates
    /// Facts per read.
    private static let page = 128

    package init(store: any OutboxStore, retained: RetainedStates) {
        self.store = store
        self.retained = retained
    }

    /// Sends the stored facts of these numbers, and answers with their count.
    package func run(_ numbers: ClosedRange<Int64>) async -> Answer {
        var next = numbers.lowerBound
        var count = 0
        while next <= numbers.upperBound {
            let facts: [Fact]
            do throws(StoreError) {
                facts = try await store.facts(next...numbers.upperBound, limit: Self.page)
            } catch {
                return Answer(.failed, code: .deviceError, message: "The store cannot be read: \(error.message)")
            }
            guard let last = facts.last else { break }
            for fact in facts {
                guard await retained.putOnceWithRoom(.replay(fact)) else {
                    return Answer(
                        .failed, code: .offline, message: "The broker was lost; ask again.", data: .replayed(count))
                }
                count += 1
            }
            next = last.sequence + 1
        }
        return Answer(.done, data: .replayed(count))
    }
}
