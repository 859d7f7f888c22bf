/// Who may have a link of an adapter: so many at a time, in the order in which they asked. While somebody waits, whoever has had a
/// link for longer than a turn gives it up.
struct LinkTurns: Sendable {
    /// Whoever has or wants a link.
    typealias Holder = String

    /// The most links at a time.
    let limit: Int
    /// How long a link lasts at least while others wait.
    let turn: Duration
    /// Who has a link, since when, oldest first.
    private(set) var holders: [(holder: Holder, since: Duration)] = []
    /// Who waits, first come first.
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

    /// Who has to give up a link now, one for each that waits.
    func overdue(at now: Duration) -> [Holder] {
        holders.prefix(waiting.count).filter { now - $0.since >= turn }.map(\.holder)
    }

    /// When the next one has to give up a link; `nil` while nobody waits.
    var nextEnd: Duration? { waiting.isEmpty ? nil : holders.first.map { $0.since + turn } }
}
