import Vitals

/// Whether a proxy still serves this connection: it has one subscriber of advertisements, and sends what devices do only to that one.
///
/// Until ESPHome 2026.6 a second subscriber is ignored, and not told. Since 2026.7 the newest takes the place, and the one before is not
/// told. So a silence is doubted by a question that only the subscriber gets an answer to; a ping beside it shows that the proxy is
/// there.
struct SubscriptionWatch: Sendable {
    /// The silence after which it is doubted. In a house there are always devices that advertise.
    static let silence: Duration = .seconds(20)
    /// How long a proxy that answers pings may take to answer the subscriber's question.
    static let grace: Duration = .seconds(5)
    /// The waits before an ignored subscription is tried again: a proxy keeps a connection that broke for 150 s.
    static let waits: [Duration] = [.seconds(10), .seconds(30), .seconds(60)]

    enum Action: Sendable, Hashable {
        case none, subscribe, probe
        /// Another client has the place. It is tried again, which takes nothing from anybody.
        case ignored
        /// Another client has taken the place.
        case taken
    }

    private enum State: Sendable {
        case new
        case asked(at: Duration, isPingAnswered: Bool)
        case refused(until: Duration)
        case subscribed(at: Duration)
        case doubted(at: Duration, isPingAnswered: Bool)
        case lost
    }
    private var state = State.new
    private var refusals = 0
    /// Whether the proxy has answered a question of the subscriber: without that its silence means nothing.
    private var answersProbes = false
    /// Whether the newest subscriber takes the place: ESPHome 2026.7 or later.
    let newestWins: Bool

    /// A connection to a proxy with this version of ESPHome, such as `2026.6.5`.
    init(version: String) {
        let parts = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        newestWins = parts.count == 2 && (parts[0], parts[1]) >= (2026, 7)
    }

    /// Whether the proxy serves this connection, as far as it is known.
    var isSubscribed: Bool {
        switch state {
        case .subscribed, .doubted: true
        case .new, .asked, .refused, .lost: false
        }
    }

    /// What only the subscriber gets has come. Returns whether that is new.
    mutating func proved(at now: Duration, byProbe: Bool = false) -> Bool {
        if byProbe { answersProbes = true }
        if case .lost = state { return false }
        defer { (state, refusals) = (.subscribed(at: now), 0) }
        return !isSubscribed
    }

    /// A ping was answered.
    mutating func pingAnswered() {
        switch state {
        case .asked(let at, _): state = .asked(at: at, isPingAnswered: true)
        case .doubted(let at, _): state = .doubted(at: at, isPingAnswered: true)
        case .new, .refused, .subscribed, .lost: break
        }
    }

    /// A device did not answer: that may be the reason.
    mutating func doubt() { if case .subscribed = state { state = .subscribed(at: .zero - Self.silence) } }

    /// What to do now, and when to ask again.
    mutating func next(at now: Duration) -> (Action, Duration) {
        switch state {
        case .new:
            state = .asked(at: now, isPingAnswered: false)
            return (.subscribe, now + Self.grace)
        case .asked(let at, true) where now - at >= Self.grace:
            if newestWins { return lose(at: now) }
            let until = now + Self.waits[min(refusals, Self.waits.count - 1)]
            refusals += 1
            state = .refused(until: until)
            return (.ignored, until)
        case .refused(let until):
            guard now >= until else { return (.none, until) }
            state = .asked(at: now, isPingAnswered: false)
            return (.subscribe, now + Self.grace)
        case .subscribed(let at):
            guard now - at >= Self.silence else { return (.none, at + Self.silence) }
            state = .doubted(at: now, isPingAnswered: false)
            return (.probe, now + Self.grace)
        case .doubted(let at, true) where now - at >= Self.grace:
            if answersProbes { return lose(at: now) }
            state = .subscribed(at: now)
            return (.none, now + Self.silence)
        case .asked(let at, _), .doubted(let at, _): return (.none, max(at + Self.grace, now + .seconds(1)))
        case .lost: return (.taken, now + Self.grace)
        }
    }

    private mutating func lose(at now: Duration) -> (Action, Duration) {
        state = .lost
        return (.taken, now)
    }
}
