import JSON
import MQTT
import Vitals

/// The losses of a store that was damaged: each is told to each device.
struct StoreLosses {
    /// When the store was damaged.
    private let damages: [Duration]
    /// When a gap with the reason `store_reset` came, by the device.
    private var told: [String: [Duration]] = [:]
    /// How many damages are read past.
    private var position = 0
    /// The newest name of the store, and whether it is that of the store which was damaged.
    private var store: String?
    private var isOutdated = false
    private var unnamed = 0

    init(damages: [Duration]) { self.damages = damages }

    /// Whether a message is the first one after a damage: the gateway has forgotten what was before.
    mutating func begins(at uptime: Duration) -> Bool {
        guard position < damages.count, uptime > damages[position] else { return false }
        position += 1
        isOutdated = true
        return true
    }

    /// Reads which store the gateway has.
    mutating func read(store named: String) {
        if named != store { isOutdated = false }
        store = named
    }

    /// A fact must not come before the name of its store: a consumer would take its number for an old one.
    mutating func readFact() { if isOutdated { unnamed += 1 } }

    mutating func read(_ gap: JSONValue, device: String, at uptime: Duration) {
        guard gap["reason"]?.asString == "store_reset" else { return }
        told[device, default: []].append(uptime)
    }

    /// Whether something that was stored at this time may have been lost.
    func mayLose(what storedAt: Duration) -> Bool { damages.contains { $0 >= storedAt } }

    /// What is wrong with what was told of these devices.
    func mistakes(of devices: [DeviceID]) -> [String] {
        let early = unnamed > 0 ? ["\(unnamed) facts of a new store came before its name"] : []
        return early
            + devices.flatMap { device -> [String] in
                let times = told[device.text] ?? []
                let untold = damages.filter { damage in !times.contains { $0 > damage } }
                let invented = times.filter { time in !damages.contains { $0 < time } }
                return untold.map { "the loss of the store at \($0) is not told to \(device)" }
                    + invented.map { "the loss of a store is told to \(device) at \($0), and there was none" }
            }
    }
}
