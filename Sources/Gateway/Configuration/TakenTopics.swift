import Contract
import Vitals

/// Checks the topics of devices whose documents come as messages: no two devices may share one.
struct TakenTopics {
    /// The gateway's; `nil` if its id is wrong.
    let own: ContractTopics?
    /// The prefix of Home Assistant's discovery, if it is used.
    let discoveryPrefix: String?
    private var devices: [String: DeviceID] = [:]

    init(own: ContractTopics?, discoveryPrefix: String?) {
        self.own = own
        self.discoveryPrefix = discoveryPrefix
    }

    /// Takes a topic for a device. Returns what is wrong with it, with the remedy.
    mutating func add(_ topic: String, of device: DeviceID?) -> String? {
        // A missing one is an error of the transport already.
        if topic.isEmpty { return nil }
        if let issue = own?.issue(inResponseTopic: topic, discoveryPrefix: discoveryPrefix) {
            return "The topic \(topic) \(issue). Choose one of the device's own, such as phones/anna."
        }
        if let other = devices[topic] {
            return "The topic \(topic) is that of \(other) already. Give each device its own."
        }
        devices[topic] = device
        return nil
    }
}
