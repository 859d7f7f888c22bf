import GatewayTesting
import JSON
import MQTT
import TestSupport
import Vitals

/// The knowledge of a consumer that keys on `id` after a run, and all errors found.
struct Issues {
    struct Seen {
        var device: String
        var metric: String
        var start: String
        var value: String
        var revision: Int
        var isHistorical: Bool
    }

    private(set) var issues: [String] = []
    private var samples: [String: Seen] = [:]
    /// Those of a store that was damaged. All of them must come again.
    private var earlier: [String: Seen] = [:]
    private var lastStart: [String: String] = [:]
    private var newestValues: LatestOrder
    /// The counts of days, each with the number of its last fact, or 0.
    private var counts: [String: (count: Int, number: Int)] = [:]
    /// The greatest number of a fact so far.
    private var newestNumber = 0
    /// Records that gaps announced as ending before they start, by device and metric.
    private var announced: [String: Int] = [:]
    /// The numbers of those gaps: a message may come again.
    private var gaps: Set<Int> = []
    private let diskSettings: [(at: Duration, isFull: Bool)]
    private var losses: StoreLosses
    /// The commands that were accepted, with the time of that, and the final answer of each.
    private var accepted: [String: Duration] = [:]
    private var answers: [String: String] = [:]

    /// - Parameters:
    ///   - days: the calendar for counting days; `nil` if the days need not agree.
    ///   - clockSettings: when the machine's clock was set, and whether it was right from then on.
    ///   - diskSettings: when the disk was full, and when it had room again.
    ///   - deliveries: what the consumer has by its numbers.
    ///   - received: what the gateway has received, and the broker will not send again.
    ///   - ends: when gateways crashed, or had to be gone after a stop.
    ///   - losses: when the store was damaged, before any message is read.
    init(
        _ messages: [PublishedMessage], truth: [Wearable], days: LocalCalendar?,
        clockSettings: [(at: Duration, isRight: Bool)], diskSettings: [(at: Duration, isFull: Bool)],
        deliveries: Deliveries, received: [ReceivedMessage], ends: [Duration], losses: StoreLosses
    ) {
        self.diskSettings = diskSettings
        self.losses = losses
        newestValues = LatestOrder(clockSettings: clockSettings)
        for message in messages { read(message) }
        for wearable in truth {
            if let days { compareDays(of: wearable, calendar: days) }
            compare(wearable)
            // With a wrong clock a record is refused for its time, also if something else is wrong with it.
            if clockSettings.allSatisfy(\.isRight) { compareRefused(of: wearable) }
        }
        let open = accepted.keys.filter { answers[$0] == nil }.sorted()
        if !open.isEmpty { issues.append("\(open.count) commands have no final answer: \(open.prefix(10))") }
        if !refused.isEmpty { compareRefused(with: received) }
        let lost = unanswered(of: received, ends: ends)
        if !lost.isEmpty { issues.append("\(lost.count) received commands have no final answer: \(lost.prefix(10))") }
        issues += deliveries.issues + self.losses.issues(of: truth.map(\.id))
    }

    private mutating func read(_ message: PublishedMessage) {
        let levels = message.levels.map { String($0) }
        guard levels.count >= 4, let body = try? JSONValue(parsing: message.message.payload) else { return }
        if losses.begins(at: message.uptime) { forgetStore(at: message.uptime) }
        if let number = body["seq"]?.asInt {
            newestNumber = max(newestNumber, number)
            losses.readFact()
        }
        switch levels[3] {
        case "info" where levels[2] == "gateway": if let store = body["store"]?.asString { losses.read(store: store) }
        case "measurement": readSamples(body, device: levels[2])
        case "latest":
            guard let measured = body["measured_at"]?.asString else { return }
            let key = "\(levels[2])/\(levels[4])"
            if let before = newestValues.goesBack(key, to: measured, at: message.uptime) {
                issues.append("latest of \(key) went back from \(before) to \(measured)")
            }
        case "response": readAnswer(body, at: message.uptime)
        case "event" where levels.last == "gap":
            losses.read(body, device: levels[2], at: message.uptime)
            guard body["seq"]?.asInt.map({ gaps.insert($0).inserted }) ?? true else { return }
            guard let metric = body["metric"]?.asString else { return }
            announced["\(levels[2])/\(metric)", default: 0] += body["refused"]?["end_before_start"]?.asInt ?? 0
        case "daily":
            guard let date = body["date"]?.asString, let count = body["count"]?.asInt else { return }
            readDay("\(levels[2])/\(levels[4])/\(date)", count: count, number: body["seq"]?.asInt)
        default: break
        }
    }

    /// The numbers begin again, and the newest value is that of the history. All of that is read again, with all that it refuses.
    /// Commands of the last minutes are not known any more.
    private mutating func forgetStore(at uptime: Duration) {
        (newestNumber, gaps, counts, announced) = (0, [], [:], [:])
        newestValues.forget()
        accepted = accepted.filter { uptime - $0.value > losses.answerTime }
        unstored.formUnion(answers.keys)
        earlier.merge(samples) { $1 }
        samples = [:]
    }

    /// How long a received command may take to be on disk: a full command queue is answered within seconds.
    private static let queueTime: Duration = .seconds(20)
    /// How long an answer may wait for a connection, when the disk could not take it.
    static let answerTime: Duration = .minutes(3)

    /// The received commands without a final answer, but for those that a crash or a full disk kept from being stored, and
    /// those whose answer goes to a topic that is not observed.
    private func unanswered(of received: [ReceivedMessage], ends: [Duration]) -> [String] {
        let ids = received.compactMap { message -> String? in
            guard message.message.responseTopic == nil, let id = Self.command(message) else { return nil }
            let at = message.uptime
            let mayBeLost =
                losses.mayLose(answerTo: at)
                || ends.contains { $0 >= at && $0 - at <= Self.queueTime }
                || diskSettings.contains { $0.at >= at - Self.answerTime && $0.at <= at + Self.answerTime }
            return mayBeLost ? nil : id
        }
        return Set(ids).subtracting(answers.keys).sorted()
    }

    /// Only of a command that came twice one copy may be refused as busy while the other has another answer.
    private mutating func compareRefused(with received: [ReceivedMessage]) {
        let ids = received.compactMap(Self.command)
        for (id, answer) in refused.sorted(by: { $0.key < $1.key }) where ids.count(where: { $0 == id }) < 2 {
            issues.append("\(id) was refused as busy, and answered \(answer), though it came once")
        }
    }

    /// The id of a command; `nil` for another message.
    private static func command(_ message: ReceivedMessage) -> String? {
        guard message.message.topic.contains("/command/") else { return nil }
        return (try? JSONValue(parsing: message.message.payload))?["id"]?.asString
    }

    /// An answer may come twice, but no command has two different final answers. Only one that was shortened for the broker's
    /// limit may come whole, if the limit rises before the broker has acknowledged it.
    ///
    /// An answer that a full disk could not take is not known after a crash: its command then gets another one.
    private mutating func readAnswer(_ body: JSONValue, at uptime: Duration) {
        guard let id = body["id"]?.asString, let status = body["status"]?.asString else { return }
        if status == "accepted" {
            accepted[id] = uptime
            return
        }
        if wasDiskFull(uptime) { unstored.insert(id) }
        if status == "rejected", body["code"]?.asString == "busy" {
            if let other = answers[id], other != Self.busy { refused[id] = other }
            if answers[id] == nil { answers[id] = Self.busy }
            return
        }
        if answers[id] == Self.busy { refused[id] = status }
        if body["code"]?.asString == "too_large" {
            if answers[id] == nil { answers[id] = Self.shortened }
        } else if let before = answers.updateValue(status, forKey: id), before != status, before != Self.shortened,
            before != Self.busy, !unstored.contains(id)
        {
            issues.append("\(id) was answered \(before), and then \(status)")
        }
    }
    /// The commands that were answered while the disk was full.
    private var unstored: Set<String> = []
    /// The commands that have another answer beside `busy`. The gateway forgets a refusal, so one copy of a command may be refused while
    /// another one runs.
    private var refused: [String: String] = [:]
    private static let busy = "busy"
    private static let shortened = "too_large"

    /// A past day that is sent again has its old number. A running day has none: it is newer than all facts so far.
    private mutating func readDay(_ day: String, count: Int, number: Int?) {
        if let number, number <= counts[day]?.number ?? 0 { return }
        counts[day] = (count, number ?? newestNumber)
    }

    private func wasDiskFull(_ uptime: Duration) -> Bool {
        diskSettings.last { $0.at <= uptime }?.isFull ?? false
    }

    private mutating func readSamples(_ body: JSONValue, device: String) {
        guard let metric = body["metric"]?.asString, let list = body["samples"]?.asArray else {
            return issues.append("a measurement without samples")
        }
        let isHistorical = body["historical"]?.asBool ?? false
        let source = body["source"]?.asString ?? ""
        if !(1...200).contains(list.count) { issues.append("\(list.count) samples in a message") }
        for sample in list {
            guard let id = sample["id"]?.asString, let start = sample["start"]?.asString else {
                issues.append("a sample without id or start")
                continue
            }
            let seen = Seen(
                device: device, metric: metric, start: start, value: Self.text(sample),
                revision: sample["rev"]?.asInt ?? 0, isHistorical: isHistorical)
            let before = samples[id] ?? earlier[id]
            if let before, before.value != seen.value {
                issues.append("\(id) changed from \(before.value) to \(seen.value)")
            }
            if samples[id] == nil { samples[id] = seen }
            guard before == nil else { continue }
            // First arrivals are in order, within the live samples and within the historical ones.
            guard source == "live", !isHistorical else { continue }
            let key = "\(device)/\(metric)"
            if let before = lastStart[key], start < before {
                issues.append("\(key) is out of order: \(start) after \(before)")
            }
            lastStart[key] = start
        }
    }

    /// Checks that the last published count of each day is the number of samples measured on it.
    private mutating func compareDays(of wearable: Wearable, calendar: LocalCalendar) {
        var expected: [String: Int] = [:]
        for sample in wearable.truth {
            let day = calendar.day(of: sample.start)
            expected["\(wearable.id.text)/\(sample.metric.rawValue)/\(day)", default: 0] += 1
        }
        for (key, count) in expected.sorted(by: { $0.key < $1.key }) where counts[key]?.count != count {
            issues.append("\(key) has \(count) samples, and \(counts[key]?.count ?? 0) by its summary")
        }
    }

    /// Checks that gaps have announced every refused record of the history. A clock that was wrong, or pages that overlap,
    /// may announce one more than once.
    private mutating func compareRefused(of wearable: Wearable) {
        for (metric, count) in wearable.nonsense {
            let number = announced["\(wearable.id.text)/\(metric.rawValue)", default: 0]
            guard number < count else { continue }
            issues.append("\(wearable.id) has \(count) impossible records of \(metric.rawValue), and gaps \(number)")
        }
    }

    private static func text(_ sample: JSONValue) -> String {
        if let value = sample["value"]?.asDouble { return "\(value)" }
        return "\(sample["fields"]?["systolic"]?.asDouble ?? -1)/\(sample["fields"]?["diastolic"]?.asDouble ?? -1)"
    }

    private mutating func compare(_ wearable: Wearable) {
        var missing: [Sample] = []
        for sample in wearable.truth {
            let id = SampleID(device: wearable.id, sample: sample).description
            earlier[id] = nil
            guard let seen = samples.removeValue(forKey: id) else {
                missing.append(sample)
                continue
            }
            if seen.start != sample.start.description || seen.value != Self.text(sample) {
                issues.append("\(id) is \(seen) and should be \(sample)")
            }
        }
        if let first = missing.first {
            issues.append(
                "\(missing.count) of \(wearable.truth.count) samples of \(wearable.id) are lost, first "
                    + "\(first.metric.rawValue) of \(first.start)")
        }
        let strangers = (Array(samples.values) + Array(earlier.values)).filter { $0.device == wearable.id.text }
        if !strangers.isEmpty { issues.append("\(strangers.count) samples were never measured") }
    }

    private static func text(_ sample: Sample) -> String {
        switch sample.reading {
        case .value(let value): "\(value)"
        case .bloodPressure(let pressure): "\(pressure.systolic)/\(pressure.diastolic)"
        default: ""
        }
    }
}
