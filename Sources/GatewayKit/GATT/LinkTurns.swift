/// The devices that have a link of a radio: so many at a time, in the order in which they asked. While one waits, another that has
/// had its link for longer than a turn gives it up. A turn begins when the link is open: how long that takes has its own limit.
package struct LinkTurns: Sendable {
    /// The identifier of a device that has or wants a link.
    package typealias Holder = String

    /// The most links at a time.
    package var limit: Int
    /// How long a link lasts at least while others wait.
    package let turn: Duration
    /// The devices with a link or with the right to make one.
    package private(set) var holders: Set<Holder> = []
    /// Those whose link is open, with the moment when their turn began, oldest first.
    private var turns: [(holder: Holder, since: Duration)] = []
    /// The devices that wait, in the order of their requests.
    package private(set) var waiting: [Holder] = []

    /// No links yet: at most `limit` at a time, each for a turn while others wait.
    package init(limit: Int, turn: Duration) { (self.limit, self.turn) = (limit, turn) }

    /// Asks for a link. Returns whether there is one at once; else `holder` waits.
    package mutating func request(_ holder: Holder) -> Bool {
        guard holders.count < limit, waiting.isEmpty else {
            waiting.append(holder)
            return false
        }
        holders.insert(holder)
        return true
    }

    /// The link of `holder` is open.
    package mutating func begin(_ holder: Holder, at now: Duration) {
        guard holders.contains(holder) else { return }
        turns.removeAll { $0.holder == holder }
        turns.append((holder, now))
    }

    /// Takes back a link, or a wish for one. Returns who may make a link now.
    package mutating func release(_ holder: Holder) -> [Holder] {
        waiting.removeAll { $0 == holder }
        turns.removeAll { $0.holder == holder }
        holders.remove(holder)
        let granted = Array(waiting.prefix(max(0, limit - holders.count)))
        waiting.removeFirst(granted.count)
        holders.formUnion(granted)
        return granted
    }

    /// The devices that have to give up their link now, one for each that waits.
    package func overdue(at now: Duration) -> [Holder] {
        turns.prefix(waiting.count).filter { now - $0.since >= turn }.map(\.holder)
    }

    /// When the next device has to give up its link; `nil` while no other waits.
    package var nextEnd: Duration? { waiting.isEmpty ? nil : turns.first.map { $0.since + turn } }
}
