import Concurrency

/// The sleepers: a binary heap, ordered by deadline and then by arrival.
///
/// A cancelled sleeper's place stays in the heap until its deadline, or until there are more than twice as many places
/// as sleepers.
struct SleeperQueue {
    typealias Sleeper = Promise<Void>
    private typealias Place = (deadline: Duration, identifier: UInt64)

    private var places: [Place] = []
    private var sleepers: [UInt64: Sleeper] = [:]

    var isEmpty: Bool { sleepers.isEmpty }
    var count: Int { sleepers.count }

    mutating func insert(_ sleeper: Sleeper, identifier: UInt64, until deadline: Duration) {
        sleepers[identifier] = sleeper
        if places.count > 2 * sleepers.count + 64 { dropEmptyPlaces() }
        places.append((deadline, identifier))
        var child = places.count - 1
        while child > 0, case let parent = (child - 1) / 2, places[child] < places[parent] {
            places.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes a sleeper that is woken early, `nil` if it is awake already.
    mutating func remove(_ identifier: UInt64) -> Sleeper? { sleepers.removeValue(forKey: identifier) }

    /// The next deadline; `nil` if no task sleeps.
    mutating func nextDeadline() -> Duration? {
        while let first = places.first {
            if sleepers[first.identifier] != nil { return first.deadline }
            removeFirstPlace()
        }
        return nil
    }

    /// Removes all sleepers with a deadline up to `now`, in order.
    mutating func popDue(until now: Duration) -> [Sleeper] {
        var woken: [Sleeper] = []
        while let first = places.first, first.deadline <= now {
            removeFirstPlace()
            if let sleeper = sleepers.removeValue(forKey: first.identifier) { woken.append(sleeper) }
        }
        return woken
    }

    private mutating func removeFirstPlace() {
        places.swapAt(0, places.count - 1)
        places.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < places.count && places[child] < places[least] {
                least = child
            }
            if least == parent { return }
            places.swapAt(parent, least)
            parent = least
        }
    }

    private mutating func dropEmptyPlaces() {
        // A sorted array is a heap.
        places = places.filter { sleepers[$0.identifier] != nil }.sorted { $0 < $1 }
    }
}
