import Vitals

/// The refused records of one metric in one reading of the history, and which of them no gap has announced.
struct RefusedRecords: Sendable {
    /// The records that gaps have announced.
    struct Announced: Sendable, Hashable {
        /// The latest start.
        var through: Timestamp?
        /// Number of records without a plausible time. They cannot be distinguished, so only an increase is new.
        var timeless: [RefusalReason: Int] = [:]
    }

    /// All of this reading, announced or not.
    private(set) var all = Refusals()
    private(set) var announced: Announced
    /// Those without a plausible time, announced or not.
    private var timeless: [RefusalReason: Int] = [:]
    /// Those to announce, except `newest`.
    private var earlier = Refusals()
    /// Those to announce at the latest start so far. The next page may have more of the same start.
    private var newest = Refusals()
    /// Latest start of records that earlier readings announced.
    private let before: Timestamp?

    init(announced: Announced) {
        self.announced = announced
        before = announced.through
    }

    /// Whether a record waits for its gap.
    var isWaiting: Bool {
        !earlier.isEmpty || !newest.isEmpty
            || timeless.contains { $0.value > announced.timeless[$0.key, default: 0] }
    }

    /// Counts records without a plausible time.
    mutating func add(_ reason: RefusalReason, count: Int) {
        guard count > 0 else { return }
        timeless[reason, default: 0] += count
        all.add(reason, count: count)
    }

    /// Counts a record.
    mutating func add(_ reason: RefusalReason, start: Timestamp, end: Timestamp) {
        all.add(reason, start: start, end: end)
        // One up to there was announced, or is shown late: only a memory of every record could distinguish the two.
        guard before.map({ start > $0 }) ?? true else { return }
        if let latest = newest.through {
            guard start >= latest else { return earlier.add(reason, start: start, end: end) }
            if start > latest {
                earlier.add(newest)
                newest = Refusals()
            }
        }
        newest.add(reason, start: start, end: end)
    }

    /// Returns the waiting records with starts up to `last` and those without a time, and marks them as announced.
    mutating func announce(through last: Timestamp?) -> Refusals {
        guard let last else { return announceTimeless() }
        if let latest = newest.through, latest <= last {
            earlier.add(newest)
            newest = Refusals()
        }
        var refusals = earlier
        earlier = Refusals()
        announced.through = [announced.through, refusals.through].compactMap { $0 }.max()
        refusals.add(announceTimeless())
        return refusals
    }

    /// Returns all waiting records, and marks them as announced.
    /// - Parameter isWhole: whether the reading has met all records without a time.
    mutating func announceAll(isWhole: Bool) -> Refusals {
        let refusals = announce(through: newest.through)
        if isWhole { announced.timeless = timeless }
        return refusals
    }

    private mutating func announceTimeless() -> Refusals {
        var refusals = Refusals()
        for (reason, count) in timeless {
            refusals.add(reason, count: count - announced.timeless[reason, default: 0])
        }
        announced.timeless.merge(timeless, uniquingKeysWith: max)
        return refusals
    }
}
