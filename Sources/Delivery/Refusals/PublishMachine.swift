import MQTT
import Vitals

/// Decides the outcome of each message that the broker has answered, or at which it cut the connection, and how long
/// the messages of a fact may be. What it has discovered about the broker lasts over connections.
struct PublishMachine: Sendable {
    /// Size in bytes below which a limit of the broker is not looked for: every broker takes such packets.
    static let smallestLimit = 4_096
    /// Facts and topics that are remembered as not taken; beyond that they are tried again.
    static let maximumRemembered = 256
    /// Refusals of the same message with "quota exceeded" (0x97), after which it counts as never taken. A full broker is
    /// given time: with the waits between connections that is about an hour.
    static let quotaTries = 120
    /// Chosen topics at whose answers the broker cuts within `chosenPause`, after which no chosen topic gets one.
    static let maximumClosed = 3
    /// How long a connection holds on which the broker takes nothing of ours, at first; the commands of the connection run meanwhile.
    static let firstHold: Duration = .seconds(10)
    /// The longest time: an access list that is corrected takes effect within it.
    static let longestHold: Duration = .seconds(60)
    /// How long answers to a chosen topic, or to all of them, are given up: as long as a command's sender may ask again.
    static let chosenPause = StoredAnswer.memory

    private struct Key: Hashable {
        var lane: Lane
        var number: Int64
    }

    /// A fact in several messages.
    private struct Publish {
        var parts: [[StoredSample]]
        var left: Int
        var refused: [StoredSample]
        var reason: String
    }

    private(set) var poison = PoisonMessageSplitter()
    /// The Maximum Packet Size of this connection.
    private var announced: Int?
    /// A size in bytes that this broker took, after it had refused longer ones.
    private(set) var discovered: Int?
    /// Sizes that are tried for single facts.
    private var trials: [Key: Int] = [:]
    /// Facts and answers that are not sent any more: the blamed samples; `nil` for all of it.
    private var condemned: [Key: Set<SampleID>?] = [:]
    /// Topics of facts that are not taken in any size.
    private var hopeless: Set<String> = []
    /// Topics of states, and of facts that are sent again, that are not taken.
    private(set) var refusedTopics = RefusedTopics()
    /// Topics chosen by senders of commands, and until when their answers are given up.
    private var closedTopics: [String: Duration] = [:]
    /// Answers that are sent without their data, with their whole size.
    private var shortened: [Int64: Int] = [:]
    /// The size of answers of which the broker took only the short form: tried whole again after a while.
    private var longAnswers = RefusedTopics()
    private var stateNumber: Int64 = 0
    private var inFlight: [Key: Publish] = [:]
    private var replays: [Int64: (left: Int, isRefused: Bool)] = [:]
    /// Whether the broker has taken a message on this connection.
    private var hasTaken = false
    /// When this connection has held long enough, since the broker refused a fact; `nil` if it refused none, or took a message before.
    private var heldUntil: Duration?
    private var hold = PublishMachine.firstHold

    // MARK: Connections

    mutating func connected(limit: Int?) {
        announced = limit
        hasTaken = false
        heldUntil = nil
        inFlight = [:]
        replays = [:]
    }

    /// Whether the connection must end now, so that the facts are sent again that the broker refused while it took nothing.
    func isHoldOver(at uptime: Duration) -> Bool { heldUntil.map { hasTaken || uptime >= $0 } ?? false }

    /// Holds the connection, and each next one longer, until the broker takes something.
    private mutating func holdConnection(at uptime: Duration) {
        guard heldUntil == nil else { return }
        heldUntil = uptime + hold
        hold = min(hold * 2, Self.longestHold)
    }

    /// The connection ended by a decision of the gateway.
    mutating func closed() { poison.closed() }

    /// The connection was cut. Returns a message that is given up from now on.
    mutating func cut(at uptime: Duration) -> PoisonMessageSplitter.Item? {
        guard let item = poison.cut(at: uptime) else { return nil }
        return blame(item, at: uptime) ? item : nil
    }

    /// The gateway closed the connection, as the broker did not answer a message in time. Returns a message that is given up
    /// from now on.
    ///
    /// A broker that has answered nothing else on this connection does not work at all, so no message is to blame.
    mutating func timedOut(at uptime: Duration) -> PoisonMessageSplitter.Item? {
        guard hasTaken, poison.isOverdue(at: uptime) else {
            closed()
            return nil
        }
        return cut(at: uptime)
    }

    /// Returns whether the message is given up; otherwise its samples are tried in smaller messages.
    private mutating func blame(_ item: PoisonMessageSplitter.Item, at uptime: Duration) -> Bool {
        guard givesUp(item, at: uptime) else { return false }
        poison.gaveUp()
        return true
    }

    private mutating func givesUp(_ item: PoisonMessageSplitter.Item, at uptime: Duration) -> Bool {
        guard case .entry(let lane, let number, let part) = item.kind else {
            refusedTopics.blame(item.topic, size: item.size, at: uptime)
            return true
        }
        let key = Key(lane: lane, number: number)
        if lane == .answer, shorten(item, number) { return false }
        if let smaller = item.smaller, !hopeless.contains(item.topic) {
            if trials.count >= Self.maximumRemembered { trials = [:] }
            trials[key] = smaller
            return false
        }
        if condemned.count >= Self.maximumRemembered { condemned = [:] }
        if let publish = inFlight[key], publish.parts.indices.contains(part) {
            let ids = (condemned[key] ?? []) ?? []
            condemned[key] = .some(ids.union(publish.parts[part].map(\.id)))
        } else {
            condemned[key] = .some(nil)
        }
        if lane != .answer, trials[key] != nil || item.samples > 1 {
            if hopeless.count >= Self.maximumRemembered { hopeless = [] }
            hopeless.insert(item.topic)
        }
        if item.isChosen {
            if closedTopics.count >= Self.maximumRemembered { closedTopics = [:] }
            closedTopics[item.topic] = uptime + Self.chosenPause
        }
        return true
    }

    /// Lets an answer go without its data from now on. Returns `false` if it does already, or if it is short.
    private mutating func shorten(_ item: PoisonMessageSplitter.Item, _ number: Int64) -> Bool {
        guard item.size > Self.smallestLimit, shortened[number] == nil else { return false }
        if shortened.count >= Self.maximumRemembered { shortened = [:] }
        shortened[number] = item.size
        return true
    }

    // MARK: Sending

    /// The maximum size in bytes of this entry's packets; `nil` without a limit.
    func limit(_ lane: Lane, _ number: Int64) -> Int? {
        [announced, discovered, trials.isEmpty ? nil : trials[Key(lane: lane, number: number)]].compactMap { $0 }.min()
    }

    /// Whether an answer of this size must go without its data.
    func isTooLong(answer number: Int64, size: Int, at uptime: Duration) -> Bool {
        guard size > Self.smallestLimit || announced != nil else { return false }
        if let limit = limit(.answer, number), size > limit { return true }
        return !shortened.isEmpty && shortened[number] != nil
            || longAnswers.contains(Self.anyTopic, size: size, at: uptime)
    }
    private static let anyTopic = ""

    /// Whether nothing of this entry is sent any more.
    func isCondemned(_ lane: Lane, _ number: Int64) -> Bool {
        guard !condemned.isEmpty, let ids = condemned[Key(lane: lane, number: number)] else { return false }
        return ids == nil
    }

    /// The samples of a fact that are not sent any more.
    func condemned(_ lane: Lane, _ number: Int64) -> Set<SampleID> {
        condemned.isEmpty ? [] : (condemned[Key(lane: lane, number: number)] ?? nil) ?? []
    }

    /// Whether answers to this topic are given up for now.
    func isClosed(_ topic: String, isChosen: Bool, at uptime: Duration) -> Bool {
        guard isChosen, !closedTopics.isEmpty else { return false }
        return closedTopics[topic].map { uptime < $0 } ?? false || areChosenClosed(at: uptime)
    }

    /// Whether answers to all topics that senders chose are given up for now: each new topic would cost some connections.
    func areChosenClosed(at uptime: Duration) -> Bool {
        closedTopics.values.count { uptime < $0 } >= Self.maximumClosed
    }

    /// Whether states that were given up are to be tried again now.
    mutating func retriesStates(at uptime: Duration) -> Bool { refusedTopics.takeDue(at: uptime) }

    /// A fact goes in several messages, or without some of its samples.
    mutating func began(
        _ lane: Lane, _ number: Int64, parts: [[StoredSample]], refused: [StoredSample], reason: String
    ) {
        inFlight[Key(lane: lane, number: number)] = Publish(
            parts: parts, left: parts.count, refused: refused, reason: reason)
    }

    /// A fact is sent again in so many messages.
    mutating func beganReplay(_ number: Int64, parts: Int, isRefused: Bool) { replays[number] = (parts, isRefused) }

    mutating func sent(_ mark: DeliveryMark, _ item: PoisonMessageSplitter.Item, at uptime: Duration) {
        poison.sent(mark.token, item, at: uptime)
    }

    /// A new mark for a state.
    mutating func nextState() -> DeliveryMark {
        stateNumber += 1
        return .state(stateNumber)
    }

    // MARK: Answers of the broker

    /// Runs `body`, and returns also whether messages need not go one at a time any more.
    mutating func noticingCalm<Value>(_ body: (inout Self) -> Value) -> (Value, isCalm: Bool) {
        let wasCareful = poison.isCareful
        let value = body(&self)
        return (value, wasCareful && !poison.isCareful)
    }

    /// The broker has answered a message, or the message cannot be sent.
    mutating func settled(_ mark: DeliveryMark, refusal: BrokerRefusal?, at uptime: Duration) -> Outcome {
        let item = poison.settled(mark.token, isTaken: refusal == nil)
        guard let refusal else {
            hasTaken = true
            hold = Self.firstHold
            if let item {
                if !hopeless.isEmpty { hopeless.remove(item.topic) }
                refusedTopics.taken(item.topic, size: item.size)
                if mark.lane == .answer { longAnswers.taken(Self.anyTopic, size: item.size) }
            }
            if case .entry(.answer, let number) = mark, let size = shortened[number] {
                longAnswers.blame(Self.anyTopic, size: size, at: uptime)
            }
            return settled(mark, nil)
        }
        switch refusal {
        case .quotaExceeded:
            guard let item, let blamed = poison.failed(item, tries: Self.quotaTries), blame(blamed, at: uptime) else {
                return .reconnect
            }
        case .other:
            // The broker may take it later, but a message that it never takes must not stop the others.
            guard let item, let blamed = poison.failed(item), blame(blamed, at: uptime) else { return .reconnect }
        case .notAuthorized where mark.isFact && !hasTaken:
            // The broker takes nothing of ours: its access list is being written.
            holdConnection(at: uptime)
            return .held
        case .packetTooLarge:
            if case .entry(.answer, let number) = mark, let item, shorten(item, number) { return .reconnect }
            if let smaller = item?.smaller {
                discovered = min(discovered ?? .max, smaller)
                return .reconnect
            }
        case .notAuthorized, .invalidTopic, .invalidPayload: break
        }
        let place = item.map { " at \($0.topic)" } ?? ""
        let remedy = refusal == .notAuthorized ? " \(BrokerRefusal.accessRemedy)" : ""
        return settled(mark, "The broker refused it\(place): \(refusal).\(remedy)")
    }

    private mutating func settled(_ mark: DeliveryMark, _ reason: String?) -> Outcome {
        switch mark {
        case .state: return reason == nil ? .room : .givenUp(mark)
        case .replay(let number, _): return settledReplay(number, mark, isRefused: reason != nil)
        case .entry(let lane, let number):
            let key = Key(lane: lane, number: number)
            guard let reason else {
                delivered(key)
                return .delivered(lane, number)
            }
            return lane == .answer
                ? .givenUp(mark) : .quarantine(RefusedFact(lane: lane, number: number, reason: reason))
        case .part(let lane, let number, let part):
            let key = Key(lane: lane, number: number)
            guard var publish = inFlight[key] else { return .room }
            publish.left -= 1
            if let reason {
                publish.refused += publish.parts[part]
                publish.reason = reason
            }
            inFlight[key] = publish
            guard publish.left <= 0 else { return .room }
            inFlight[key] = nil
            if publish.refused.isEmpty {
                delivered(key)
                return .delivered(lane, number)
            }
            return .quarantine(
                RefusedFact(lane: lane, number: number, samples: publish.refused, reason: publish.reason))
        }
    }

    private mutating func settledReplay(_ number: Int64, _ mark: DeliveryMark, isRefused: Bool) -> Outcome {
        guard var replay = replays[number] else { return isRefused ? .givenUp(mark) : .room }
        replay.left -= 1
        replay.isRefused = replay.isRefused || isRefused
        replays[number] = replay.left > 0 ? replay : nil
        if isRefused { return .givenUp(mark) }
        return replay.left > 0 || replay.isRefused ? .room : .replayed(number)
    }

    /// A size that was tried for a fact and taken is the limit from now on.
    private mutating func delivered(_ key: Key) {
        if !trials.isEmpty, let trial = trials[key] { discovered = min(discovered ?? .max, trial) }
        forget(key.lane, key.number)
    }

    /// Forgets what was kept for an entry that is delivered, quarantined or given up.
    mutating func forget(_ lane: Lane, _ number: Int64) {
        let key = Key(lane: lane, number: number)
        if !trials.isEmpty { trials[key] = nil }
        if !condemned.isEmpty { condemned[key] = nil }
        if lane == .answer, !shortened.isEmpty { shortened[number] = nil }
    }
}
