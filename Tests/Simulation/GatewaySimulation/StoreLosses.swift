import JSON
import MQTT
import Vitals

/// The losses of a store that was damaged: each is reported for each device, and nothing else has another store.
struct StoreLosses {
    /// The most gaps of one loss to a device. A crash between their commit and its confirmation makes the next start report it again.
    private static let maximumGaps = 2

    /// When the store was damaged.
    private let damages: [Duration]
    /// The numbers of the gaps with the reason `store_reset`, by the device, and when each first came.
    private var reported: [String: [Int: Duration]] = [:]
    /// How many damages are read past.
    private var position = 0
    /// The newest name of the store, and whether it is that of the store which was damaged.
    private var store: String?
    private var isOutdated = false
    private var unnamed = 0
    private var renamed = 0

    /// How long an answer may have waited in the store that was damaged.
    let answerTime: Duration

    /// - Parameter isFlooded: whether more than a thousand commands came at once. If the broker cuts the connection at a message, their
    ///   answers go one by one for as long as the faults last.
    init(damages: [Duration], isFlooded: Bool) {
        self.damages = damages
        answerTime = isFlooded ? .minutes(6) : Issues.answerTime
    }

    /// Whether a message is the first one after a damage: the gateway has forgotten what was before.
    mutating func begins(at uptime: Duration) -> Bool {
        guard position < damages.count, uptime > damages[position] else { return false }
        position += 1
        isOutdated = true
        return true
    }

    /// Reads which store the gateway has.
    mutating func read(store named: String) {
        guard named != store else { return }
        if store != nil, !isOutdated { renamed += 1 }
        isOutdated = false
        store = named
    }

    /// A fact must not come before the name of its store: a consumer would take its number for an old one.
    mutating func readFact() { if isOutdated { unnamed += 1 } }

    mutating func read(_ gap: JSONValue, device: String, at uptime: Duration) {
        guard gap["reason"]?.asString == "store_reset", let number = gap["seq"]?.asInt else { return }
        if reported[device]?[number] == nil { reported[device, default: [:]][number] = uptime }
    }

    /// Whether the answer to a command that came at this time may have been lost with a store.
    func mayLose(answerTo receivedAt: Duration) -> Bool {
        damages.contains { $0 >= receivedAt && $0 - receivedAt <= answerTime }
    }

    /// What is wrong with what was reported of these devices.
    func issues(of devices: [DeviceID]) -> [String] {
        var issues: [String] = []
        if unnamed > 0 { issues.append("\(unnamed) facts of a new store came before its name") }
        if renamed > 0 { issues.append("the gateway has another store, and the old one was not damaged") }
        for device in devices {
            let times = (reported[device.text] ?? [:]).values
            for damage in damages where !times.contains(where: { $0 > damage }) {
                issues.append("the loss of the store at \(damage) is not reported for \(device)")
            }
            let most = damages.count * Self.maximumGaps
            if times.count > most { issues.append("\(times.count) losses of a store are reported for \(device)") }
            if times.contains(where: { time in !damages.contains { $0 < time } }) {
                issues.append("a loss of the store is reported for \(device), and there was none")
            }
        }
        return issues
    }
}
