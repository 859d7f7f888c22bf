/// Limits how many messages a device may write into the gateway's log, like the standard error of a program.
struct DeviceLog {
    /// The messages of one device that are logged in a second. The others are counted.
    static let messagesPerSecond = 100

    private var second: Duration?
    private var count = 0
    private var skipped = 0

    /// Whether one more message is logged at a steady time.
    mutating func admits(at now: Duration) -> Bool {
        if second.map({ now - $0 >= .seconds(1) }) ?? true {
            second = now
            count = 0
        }
        count += 1
        if count > Self.messagesPerSecond { skipped += 1 }
        return count <= Self.messagesPerSecond
    }

    /// How many messages were skipped, once their second is over. Counts anew from then.
    mutating func takeSkipped(at now: Duration) -> Int {
        guard let second, now - second >= .seconds(1) else { return 0 }
        return takeSkipped()
    }

    /// How many messages were skipped since the last call.
    mutating func takeSkipped() -> Int {
        defer { skipped = 0 }
        return skipped
    }
}
