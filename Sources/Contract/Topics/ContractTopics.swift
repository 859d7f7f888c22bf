package import Vitals

/// The topics of one gateway: builds those for publishing, and recognises those for commands.
package struct ContractTopics: Sendable, Hashable {
    /// The first part of every topic, by default `vitals2mqtt`. It may have several levels.
    package let base: String
    /// The gateway's identifier, by default `home`.
    package let gateway: DeviceID
    /// `<base>/<gateway>`, the root of all topics.
    package let root: String

    /// The default base.
    package static let defaultBase = "vitals2mqtt"

    /// The topics of a gateway. `base` should be free of errors (see `issue(inBase:)`).
    package init(base: String = defaultBase, gateway: DeviceID) {
        self.base = base
        self.gateway = gateway
        root = "\(base)/\(gateway.text)"
    }

    /// Builds a topic.
    package func topic(_ topic: Topic) -> String {
        switch topic {
        case .gatewayStatus: "\(root)/gateway/status"
        case .gatewayInfo: "\(root)/gateway/info"
        case .gatewayState: "\(root)/gateway/state"
        case .gatewayResponse: "\(root)/gateway/response"
        case .gatewayCommand(let name): "\(root)/gateway/command/\(name)"
        case .info(let device): "\(root)/\(device.text)/info"
        case .availability(let device): "\(root)/\(device.text)/availability"
        case .link(let device): "\(root)/\(device.text)/link"
        case .latest(let device, let metric): "\(root)/\(device.text)/latest/\(metric.rawValue)"
        case .today(let device, let metric): "\(root)/\(device.text)/daily/\(metric.rawValue)"
        case .pastDay(let device, let metric, let day): "\(root)/\(device.text)/daily/\(metric.rawValue)/\(day)"
        case .measurement(let device, let metric): "\(root)/\(device.text)/measurement/\(metric.rawValue)"
        case .alertEvent(let device): "\(root)/\(device.text)/event/alert"
        case .historyEvent(let device): "\(root)/\(device.text)/event/history"
        case .gapEvent(let device): "\(root)/\(device.text)/event/gap"
        case .level(let device, let rule): "\(root)/\(device.text)/alert/\(rule.name)"
        case .config(let device): "\(root)/\(device.text)/config"
        case .sync(let device): "\(root)/\(device.text)/sync"
        case .measure(let device): "\(root)/\(device.text)/measure"
        case .wear(let device): "\(root)/\(device.text)/wear"
        case .pairing(let device): "\(root)/\(device.text)/pairing"
        case .whose(let device): "\(root)/\(device.text)/whose"
        case .whoseEvent(let device): "\(root)/\(device.text)/event/whose"
        case .response(let device): "\(root)/\(device.text)/response"
        case .configSet(let device): "\(root)/\(device.text)/config/set"
        case .command(let device, let name): "\(root)/\(device.text)/command/\(name)"
        }
    }

    /// The topics to subscribe to. The filters do not overlap, so that no command arrives twice.
    package var commandFilters: [String] { ["\(root)/+/command/+", "\(root)/+/config/set"] }

    /// The topics of every `info`, of the gateway and of its devices.
    package var infoFilter: String { "\(root)/+/info" }

    /// Whose `info` a topic is: the raw text of its level. `nil` for any other topic.
    package func owner(ofInfo topic: String) -> String? {
        let (start, end) = ("\(root)/", "/info")
        let length = topic.utf8.count - start.utf8.count - end.utf8.count
        guard length > 0, topic.utf8.starts(with: start.utf8), topic.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
        else { return nil }
        let owner = topic.utf8.dropFirst(start.utf8.count).prefix(length)
        return owner.contains(UInt8(ascii: "/")) ? nil : String(Substring(owner))
    }

    /// Recognises a command's topic; `nil` for any other.
    package func inbound(_ topic: String) -> InboundTopic? {
        guard topic.utf8.starts(with: root.utf8) else { return nil }
        let rest = topic.utf8.dropFirst(root.utf8.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        let levels = rest.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard levels.count == 3 else { return nil }
        let isGateway = levels[0] == DeviceID.reserved
        switch (levels[1], levels[2]) {
        case ("config", "set"): return .configSet(device: isGateway ? nil : levels[0])
        case ("command", let name): return isGateway ? .gateway(name) : .device(levels[0], name)
        default: return nil
        }
    }
}

/// A topic for a command. The device's name is the raw text, possibly not a valid identifier.
package enum InboundTopic: Sendable, Hashable {
    /// A command of a device.
    case device(String, String)
    /// A command of the gateway.
    case gateway(String)
    /// A configuration of a device; `nil` if the topic names the gateway in its place.
    case configSet(device: String?)

    /// Whom it is addressed to: the name of the device in the topic, or of the gateway's own place.
    package var scope: String {
        switch self {
        case .device(let device, _), .configSet(device: let device?): device
        case .gateway, .configSet(device: nil): DeviceID.reserved
        }
    }
}
