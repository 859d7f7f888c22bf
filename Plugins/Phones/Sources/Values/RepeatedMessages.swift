import GatewayKit
import Synchronization
import Vitals

/// The last message of each kind, so that one that says the same a moment later is the same measurement, also after a restart.
final class RepeatedMessages: Sendable {
    private struct Message: Sendable {
        var digest: UInt64
        var takenAt: Timestamp
    }
    private struct State {
        var last: [String: Message] = [:]
        var isLoaded = false
        /// When the last message came of which something was taken.
        var arrival: Timestamp?
    }

    /// The note with what was taken last.
    private static let note = "last"
    /// The most kinds that are remembered over a restart: they fit into a note.
    static let maximumKept = 24
    /// The most kinds that are remembered while the gateway runs: four of each topic.
    static let maximumKinds = 4 * ValueTopic.maximumTopics

    /// How far a burst of messages can move the arrival of the next one: a millisecond for each that waits.
    static let longestBurst = Duration.milliseconds(ValuesDriver.maximumWaiting)

    /// For how long a message that says the same is the same measurement.
    let sameFor: Duration
    private let state = Mutex(State())

    init(sameFor: Duration) { self.sameFor = sameFor }

    /// Reads what an earlier run has taken, once.
    func load(from notes: DeviceNotes) async {
        guard sameFor > .zero, !isLoaded else { return }
        // Without the notes a measurement may come twice, which is better than none.
        let bytes = (try? await notes.all())?[Self.note] ?? []
        var last: [String: Message] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let digest = UInt64(words[1], radix: 16), let time = Int64(words[2]) else {
                continue
            }
            last[String(words[0])] = Message(digest: digest, takenAt: Timestamp(milliseconds: time))
        }
        store(last)
    }

    // These locks must not be inlined in functions that wait: Decision 165.

    @inline(never)
    private var isLoaded: Bool { state.withLock { $0.isLoaded } }

    @inline(never)
    private func store(_ last: [String: Message]) {
        state.withLock { state in
            state.last = last
            state.isLoaded = true
        }
    }

    /// When a message came. Two of one moment are two measurements, so the later one came a millisecond later.
    func arrival(of receivedAt: Timestamp) -> Timestamp {
        state.withLock { state in
            // A clock that was set back is right.
            guard let last = state.arrival, receivedAt <= last, last - receivedAt < Self.longestBurst else {
                return receivedAt
            }
            return last + .milliseconds(1)
        }
    }

    /// Whether a message with these values is the measurement that was taken last.
    func isKnown(_ values: [ValueMessage.Value], of topic: Int, at now: Timestamp) -> Bool {
        guard sameFor > .zero else { return false }
        let key = Self.key(values, topic)
        return state.withLock { state in
            guard let last = state.last[key] else { return false }
            // The clock may have been set back meanwhile.
            let distance = max(now, last.takenAt) - min(now, last.takenAt)
            return distance < sameFor && last.digest == Self.digest(of: values)
        }
    }

    /// Remembers a message whose samples are durable.
    func remember(_ values: [ValueMessage.Value], of topic: Int, at now: Timestamp, in notes: DeviceNotes) async {
        note(arrival: now)
        guard sameFor > .zero else { return }
        // A failure of the store is logged where it stores samples.
        try? await notes.save([Self.note: lines(with: values, topic, now)])
    }

    @inline(never)
    private func note(arrival: Timestamp) { state.withLock { $0.arrival = arrival } }

    @inline(never)
    private func lines(with values: [ValueMessage.Value], _ topic: Int, _ now: Timestamp) -> [UInt8] {
        state.withLock { state in
            state.last[Self.key(values, topic)] = Message(digest: Self.digest(of: values), takenAt: now)
            let newest = state.last.sorted { ($0.value.takenAt, $0.key) > ($1.value.takenAt, $1.key) }
                .prefix(Self.maximumKinds)
            state.last = Dictionary(newest.map { ($0.key, $0.value) }) { first, _ in first }
            let text = newest.prefix(Self.maximumKept).map { key, message in
                "\(key) \(String(message.digest, radix: 16)) \(message.takenAt.milliseconds)\n"
            }.joined()
            return Array(text.utf8.prefix(DeviceNotes.maximumSize))
        }
    }

    /// The topic and the values of a message, which are few, without a space.
    private static func key(_ values: [ValueMessage.Value], _ topic: Int) -> String {
        "\(topic):" + values.map { "\($0.index)" }.joined(separator: ",")
    }

    /// A number for the readings, so that the note has none of them (FNV-1a, 64 bits).
    private static func digest(of values: [ValueMessage.Value]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ number: Double) {
            var bits = number.bitPattern
            for _ in 0..<8 {
                hash = (hash ^ (bits & 0xff)) &* 0x100_0000_01b3
                bits >>= 8
            }
        }
        for value in values {
            switch value.sample.reading {
            case .bloodPressure(let pressure):
                add(pressure.systolic)
                add(pressure.diastolic)
                add(pressure.pulse ?? -1)
            default: add(value.sample.value ?? -1)
            }
        }
        return hash
    }
}
