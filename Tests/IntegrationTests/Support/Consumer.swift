import JSON
import MQTT
import Synchronization

/// The knowledge of a consumer that keys on `id`, from the messages alone, with all inconsistencies it finds.
final class Consumer: Sendable {
    struct Knowledge: Sendable {
        /// The newest revision of each sample.
        var samples: [String: JSONValue] = [:]
        /// The samples' starts by device, metric and lane (live or history), in the order of first arrival.
        var starts: [String: [String]] = [:]
        /// The numbers of the facts that arrived, each with its content.
        var facts: [Int: String] = [:]
        /// `measured_at` of each latest value, by topic.
        var latest: [String: [String]] = [:]
        var issues: [String] = []

        /// Numbers between the first and the last that did not arrive.
        var holes: [Int] {
            guard let first = facts.keys.min(), let last = facts.keys.max() else { return [] }
            return (first...last).filter { facts[$0] == nil }
        }
    }
    private let state = Mutex((Knowledge(), 0))

    var knowledge: Knowledge { state.withLock { $0.0 } }

    /// Reads the new messages. Returns all that is known now.
    @discardableResult
    func read(_ messages: [InboundMessage]) -> Knowledge {
        state.withLock { state in
            // Two threads may ask at the same time, one with fewer messages.
            for message in messages.dropFirst(state.1) { state.0.read(message) }
            state.1 = max(state.1, messages.count)
            return state.0
        }
    }
}

extension Consumer.Knowledge {
    fileprivate mutating func read(_ message: InboundMessage) {
        if message.topic.contains("/latest/"), !message.isRetained {
            let time = message.json["measured_at"]?.asString ?? ""
            let before = latest[message.topic, default: []]
            // After a restart the broker repeats messages that the subscriber had not acknowledged: these are not new.
            if !before.contains(time) {
                if let last = before.last, time < last {
                    issues.append("\(message.topic) goes back from \(last) to \(time).")
                }
                latest[message.topic] = before + [time]
            }
        }
        guard !message.isRetained, let json = Optional(message.json), let number = json["seq"]?.asInt else { return }
        let isReplay = json["source"]?.asString == "replay"
        let content = (json["samples"]?.asArray ?? []).map { $0["id"]?.asString ?? "?" }.joined(separator: " ")
        if let before = facts.updateValue(content, forKey: number), before != content {
            issues.append("Number \(number) stands for two things.")
        }
        let isHistorical = json["historical"]?.asBool ?? false
        for sample in json["samples"]?.asArray ?? [] {
            let id = sample["id"]?.asString ?? ""
            let start = sample["start"]?.asString ?? ""
            if let known = samples[id] {
                if known["start"] != sample["start"] { issues.append("\(id) has two starts.") }
                guard (sample["rev"]?.asInt ?? 0) > (known["rev"]?.asInt ?? 0) else {
                    if known["value"] != sample["value"] { issues.append("\(id) has two values in one revision.") }
                    continue
                }
            } else if !isReplay {
                starts["\(message.topic) \(isHistorical)", default: []].append(start)
            }
            samples[id] = sample
        }
    }
}
