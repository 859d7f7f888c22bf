/// The samples of one device, over all its connections.
struct SampleStock: Sendable {
    private static let flood = SampleText(.notification, isFine: false)
    private static let notification = SampleText(.notification, isFine: true)
    private static let request = SampleText(.request, isFine: true)
    private static let element = SampleText(.element, isFine: false)

    /// Samples rendered in flood mode, which is also the next key.
    private(set) var flooded = 0
    private var lastPaced = -1
    /// Unanswered requests, with their microseconds: a repeated sample must be identical.
    private var unanswered: [Int: Int] = [:]

    mutating func renderFlood(_ count: Int, of plan: FeedPlan, to out: inout [UInt8]) {
        for key in flooded..<(flooded + count) { Self.flood.append(to: &out, key: key, start: plan.base + Int64(key)) }
        flooded += count
    }

    /// Renders a sample measured now, which contains the time in microseconds. Returns its key.
    mutating func renderNow(of plan: FeedPlan, asRequest: Bool, to out: inout [UInt8]) -> UInt32 {
        let now = Instant.wall
        var (key, microseconds) = (Int(now / 1000 - plan.base), Int(now % 1000))
        if key <= lastPaced { (key, microseconds) = (lastPaced + 1, 0) }
        lastPaced = key
        if asRequest { unanswered[key] = microseconds }
        (asRequest ? Self.request : Self.notification)
            .append(to: &out, key: key, start: plan.base + Int64(key), microseconds: microseconds)
        return UInt32(clamping: key)
    }

    /// Renders the unanswered samples in order, as a device that keeps them until they are answered.
    func renderUnanswered(of plan: FeedPlan, to out: inout [UInt8]) {
        for (key, microseconds) in unanswered.sorted(by: { $0.key < $1.key }) {
            Self.request.append(to: &out, key: key, start: plan.base + Int64(key), microseconds: microseconds)
        }
    }

    /// Marks a request as answered. Returns its key, `nil` if no request has this number.
    mutating func answered(_ number: Int) -> UInt32? {
        let key = number - SampleText.firstRequest
        return unanswered.removeValue(forKey: key) == nil ? nil : UInt32(clamping: key)
    }

    /// Renders records of the history, each followed by a comma.
    static func renderHistory(_ keys: Range<Int>, of plan: FeedPlan, to out: inout [UInt8]) {
        out.reserveCapacity(out.count + keys.count * element.length)
        for key in keys { element.append(to: &out, key: key, start: plan.base + Int64(key) * plan.step) }
    }
}
