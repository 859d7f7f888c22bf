import Vitals

/// What a topic asks for.
struct Request {
    /// The device, where its name can be one.
    var device: DeviceID?
    /// The command's name, cut where it is long.
    var name: String
    /// Whether it is a configuration.
    var isConfig = false
    /// Whether the gateway itself is asked.
    var isGateway = false
    /// Whether a device is asked that cannot exist.
    var hasUnknownDevice: Bool { !isGateway && device == nil }

    /// The name that answers give to a configuration.
    static let configSet = "config/set"

    init(_ topic: InboundTopic) {
        switch topic {
        case .device(let device, let name):
            self.device = DeviceID(device)
            self.name = name.cut(to: CommandLimits.commandNameLength)
        case .gateway(let name):
            self.name = name.cut(to: CommandLimits.commandNameLength)
            isGateway = true
        case .configSet(let device):
            self.device = device.flatMap { DeviceID($0) }
            name = Self.configSet
            isConfig = true
            isGateway = device == nil
        }
    }

    var unknownMessage: String {
        let known = isGateway ? GatewayCommandName.allCases.map(\.rawValue) : DeviceCommandName.allCases.map(\.rawValue)
        let owner = isGateway ? "The gateway" : "A device"
        return "\(owner) has no command \(name); known are \(known.joined(separator: ", "))."
    }
}

extension String {
    /// The text without what is beyond so many bytes of UTF-8: an answer repeats no more of what it was sent.
    func cut(to length: Int) -> String {
        guard utf8.count > length else { return self }
        var result = String.UnicodeScalarView()
        var room = length
        for scalar in unicodeScalars {
            room -= UTF8.width(scalar)
            if room < 0 { break }
            result.append(scalar)
        }
        return String(result)
    }
}

/// The commands that a device takes at `command/<name>`.
enum DeviceCommandName: String, CaseIterable { case sync, measure, fetch, history, daily, time, reconnect }

/// The commands that the gateway takes at `gateway/command/<name>`.
enum GatewayCommandName: String, CaseIterable { case sync, replay, rediscover, reload, scan }
