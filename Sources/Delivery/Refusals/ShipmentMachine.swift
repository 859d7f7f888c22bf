import MQTT
import StoreAPI
import Vitals

/// Decides what becomes of each message that the broker has answered, or at which it cut the connection, and how long
/// the messages of a fact may be. What it has learned about the broker lasts over connections.
struct ShipmentMachine: Sendable {
    /// Size in bytes below which a limit of the broker is not looked for: every broker takes such packets.
    static let smallestLimit = 4_096
    /// Facts and topics that are remembered as not taken; beyond that they are tried again.
    static let maximumRemembered = 256

    /// What becomes of a message.
    enum Outcome: Sendable, Hashable {
        /// The broker has all of an entry of the outbox.
        case delivered(Lane, Int64)
        /// There is room for one message more.
        case room
        /// The broker has all of a fact that was sent again.
        case replayed(Int64)
        /// The fact is not taken, and all of its messages are answered.
        case aside(RefusedFact)
        /// An answer or a state is given up.
        case givenUp(DeliveryMark)
        /// The connection must end: the message is sent again, later or in smaller parts.
        case reconnect
    }

    private struct Key: Hashable {
        var lane: Lane
        var number: Int64
    }

    /// A fact in several messages.
    private struct Shipment {
        var parts: [[StoredSample]]
        var left: Int
        var refused: [StoredSample]
        var reason: String
    }

    private(set) var poison = PoisonMachine()
    /// The Maximum Packet Size of this connection.
    private var announced: Int?
    /// A size in bytes that this broker took, after it had refused longer ones.
    private(set) var learned: Int?
    /// Sizes that are tried for single facts.
    private var trials: [Key: Int] = [:]
    /// Facts and answers that are not sent any more: the blamed samples; `nil` for all of it.
    private var condemned: [Key: Set<SampleID>?] = [:]
    /// Topics of facts that are not taken in any size.
    private var hopeless: Set<String> = []
    /// Topics of states, and of facts that are sent again, that are not taken.
    private(set) var shunned = ShunnedTopics()
    /// Topics chosen by senders of commands, and until when their answers are given up.
    private var closedTopics: [String: Duration] = [:]
    private var shipments: [Key: Shipment] = [:]
    private var replays: [Int64: (left: Int, isRefused: Bool)] = [:]
    /// Whether the broker has taken a message on this connection.
    private var hasTaken = false

    // MARK: Connections

    mutating func connected(limit: Int?) {
        announced = limit
        hasTaken = false
        shipments = [:]
        replays = [:]
    }

    /// The connection ended by a decision of the gateway.
    mutating func closed() { poison.closed() }

    /// The connection was cut. Returns a message that is given up from now on.
    mutating func cut(at uptime: Duration) -> PoisonMachine.Item? {
        guard let item = poison.cut() else { return nil }
        return blame(item, at: uptime) ? item : nil
    }

    /// Returns whether the message is given up; otherwise its samples are tried in smaller messages.
    private mutating func blame(_ item: PoisonMachine.Item, at uptime: Duration) -> Bool {
        guard case .entry(let lane, let number, let part) = item.kind else {
            shunned.blame(item.topic, size: item.size, at: uptime)
            return true
        }
        let key = Key(lane: lane, number: number)
        if let smaller = item.smaller, !hopeless.contains(item.topic) {
            if trials.count >= Self.maximumRemembered { trials = [:] }
            trials[key] = smaller
            return false
        }
        if condemned.count >= Self.maximumRemembered { condemned = [:] }
        if let shipment = shipments[key], shipment.parts.indices.contains(part) {
            let ids = (condemned[key] ?? []) ?? []
            condemned[key] = .some(ids.union(shipment.parts[part].map(\.id)))
        } else {
            condemned[key] = .some(nil)
        }
        if lane != .answer, trials[key] != nil || item.samples > 1 {
            if hopeless.count >= Self.maximumRemembered { hopeless = [] }
            hopeless.insert(item.topic)
        }
        if item.isChosen {
            if closedTopics.count >= Self.maximumRemembered { closedTopics = [:] }
            closedTopics[item.topic] = uptime + StoredAnswer.memory
        }
        return true
    }

    // MARK: Sending

    /// The maximum size in bytes of this entry's packets; `nil` without a limit.
    func limit(_ lane: Lane, _ number: Int64) -> Int? {
        [announced, learned, trials.isEmpty ? nil : trials[Key(lane: lane, number: number)]].compactMap { $0 }.min()
    }

    /// The maximum size in bytes of any packet; `nil` without a limit.
    var limit: Int? { announced }

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
    func isClosed(_ topic: String, at uptime: Duration) -> Bool {
        closedTopics.isEmpty ? false : closedTopics[topic].map { uptime < $0 } ?? false
    }

    /// Whether states that were given up are to be tried again now.
    mutating func retriesStates(at uptime: Duration) -> Bool { shunned.takeDue(at: uptime) }

    /// A fact goes in several messages, or without some of its samples.
    mutating func began(
        _ lane: Lane, _ number: Int64, parts: [[StoredSample]], refused: [StoredSample], reason: String
    ) {
        shipments[Key(lane: lane, number: number)] = Shipment(
            parts: parts, left: parts.count, refused: refused, reason: reason)
    }

    /// A fact is sent again in so many messages.
    mutating func beganReplay(_ number: Int64, parts: Int, isRefused: Bool) { replays[number] = (parts, isRefused) }

    mutating func sent(_ mark: DeliveryMark, _ item: PoisonMachine.Item) { poison.sent(mark.token, item) }

    // MARK: Answers of the broker

    /// The broker has answered a message, or the message cannot be sent.
    mutating func settled(_ mark: DeliveryMark, refusal: BrokerRefusal?, at uptime: Duration) -> Outcome {
        let item = poison.settled(mark.token, isTaken: refusal == nil)
        guard let refusal else {
            hasTaken = true
            if let item {
                if !hopeless.isEmpty { hopeless.remove(item.topic) }
                shunned.taken(item.topic, size: item.size)
            }
            return settled(mark, nil)
        }
        switch refusal {
        case .quotaExceeded: return .reconnect
        case .other:
            // The broker may take it later, but a message that it never takes must not stop the others.
            guard let item, let blamed = poison.failed(item), blame(blamed, at: uptime) else { return .reconnect }
        case .notAuthorized where mark.isFact && !hasTaken:
            // The broker takes nothing of ours: its access list is being written.
            return .reconnect
        case .packetTooLarge:
            if let smaller = item?.smaller {
                learned = min(learned ?? .max, smaller)
                return .reconnect
            }
        case .notAuthorized, .invalidTopic, .invalidPayload: break
        }
        return settled(mark, "The broker refused it: \(refusal).")
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
            return lane == .answer ? .givenUp(mark) : .aside(RefusedFact(lane: lane, number: number, reason: reason))
        case .part(let lane, let number, let part):
            let key = Key(lane: lane, number: number)
            guard var shipment = shipments[key] else { return .room }
            shipment.left -= 1
            if let reason {
                shipment.refused += shipment.parts[part]
                shipment.reason = reason
            }
            shipments[key] = shipment
            guard shipment.left <= 0 else { return .room }
            shipments[key] = nil
            if shipment.refused.isEmpty {
                delivered(key)
                return .delivered(lane, number)
            }
            return .aside(
                RefusedFact(lane: lane, number: number, samples: shipment.refused, reason: shipment.reason))
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
        if !trials.isEmpty, let trial = trials[key] { learned = min(learned ?? .max, trial) }
        forget(key.lane, key.number)
    }

    /// Forgets what was kept for an entry that is delivered, set aside or given up.
    mutating func forget(_ lane: Lane, _ number: Int64) {
        let key = Key(lane: lane, number: number)
        if !trials.isEmpty { trials[key] = nil }
        if !condemned.isEmpty { condemned[key] = nil }
    }
}

extension PoisonMachine.Item {
    /// The next size in bytes to try for its samples; `nil` if smaller messages cannot help.
    fileprivate var smaller: Int? {
        samples > 1 && size > ShipmentMachine.smallestLimit ? max(ShipmentMachine.smallestLimit, size / 2) : nil
    }
}
