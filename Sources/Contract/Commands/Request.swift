import Vitals

/// The request that a topic names.
struct Request {
    /// The device, `nil` if its name is not a valid identifier.
    var device: DeviceID?
    /// The command's name, shortened if it is too long.
    var name: String
    /// Whether it is a change of the configuration.
    var isConfig = false
    /// Whether it is addressed to the gateway itself.
    var isGateway = false
    /// Whether it is addressed to a device that cannot exist.
    var hasUnknownDevice: Bool { !isGateway && device == nil }

    /// The name of a configuration change in answers.
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
    /// The text, cut to this many bytes of UTF-8, so that an answer repeats only so much of a request.
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

/// The commands of a device at `command/<name>`.
enum DeviceCommandName: String, CaseIterable {
    case sync, measure, fetch, history, daily, time, reconnect, passkey, acknowledge, assign, withdraw
}

/// The commands of the gateway at `gateway/command/<name>`.
enum GatewayCommandName: String, CaseIterable { case sync, replay, rediscover, reload, scan }
