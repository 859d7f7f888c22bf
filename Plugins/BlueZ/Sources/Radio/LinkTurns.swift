/// The devices that have a link of an adapter: so many at a time, in the order in which they asked. While one waits, another that has
/// had its link for longer than a turn gives it up.
struct LinkTurns: Sendable {
    /// The identifier of a device that has or wants a link.
    typealias Holder = String

    /// The most links at a time.
    let limit: Int
    /// How long a link lasts at least while others wait.
    let turn: Duration
    /// The devices with a link, and the moment when each got it, oldest first.
    private(set) var holders: [(holder: Holder, since: Duration)] = []
    /// The devices that wait, in the order of their requests.
    private(set) var waiting: [Holder] = []

    init(limit: Int, turn: Duration) { (self.limit, self.turn) = (limit, turn) }

    /// Asks for a link. Returns whether there is one at once; else `holder` waits.
    mutating func request(_ holder: Holder, at now: Duration) -> Bool {
        guard holders.count < limit, waiting.isEmpty else {
            waiting.append(holder)
            return false
        }
        holders.append((holder, now))
        return true
    }

    /// Takes back a link, or a wish for one. Returns who has a link now.
    mutating func release(_ holder: Holder, at now: Duration) -> [Holder] {
        waiting.removeAll { $0 == holder }
        holders.removeAll { $0.holder == holder }
        let granted = Array(waiting.prefix(max(0, limit - holders.count)))
        waiting.removeFirst(granted.count)
        holders += granted.map { ($0, now) }
        return granted
    }

    /// The devices that have to give up their link now, one for each that waits.
    func overdue(at now: Duration) -> [Holder] {
        holders.prefix(waiting.count).filter { now - $0.since >= turn }.map(\.holder)
    }

    /// When the next device has to give up its link; `nil` while no other waits.
    var nextEnd: Duration? { waiting.isEmpty ? nil : holders.first.map { $0.since + turn } }
}
