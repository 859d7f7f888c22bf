import Vitals

/// What a visitor asks for, by the path below the base.
enum PagePlace: Sendable, Hashable {
    case overview, gateway, signIn, events
    case device(DeviceID, DeviceSection)
    case night(DeviceID, LocalDay)
    case add(AddWay)
    case asset(String)

    /// The longest path: a night's has about a hundred characters.
    static let longestPath = 256

    /// The place of a path that begins with a slash; `nil` if there is none.
    init?(_ path: String) {
        guard let parts = Self.parts(path) else { return nil }
        switch parts.count {
        case 0: self = .overview
        case 1:
            switch parts[0] {
            case "gateway": self = .gateway
            case "sign-in": self = .signIn
            case "events": self = .events
            case "add": self = .add(.near)
            default: return nil
            }
        case 2:
            switch parts[0] {
            case "assets": self = .asset(parts[1])
            case "devices":
                guard let device = DeviceID(parts[1]) else { return nil }
                self = .device(device, .values)
            case "add":
                guard let way = AddWay(rawValue: parts[1]) else { return nil }
                self = .add(way)
            default: return nil
            }
        case 3:
            guard parts[0] == "devices", let device = DeviceID(parts[1]),
                let section = DeviceSection(rawValue: parts[2])
            else { return nil }
            self = .device(device, section)
        case 4:
            guard parts[0] == "devices", let device = DeviceID(parts[1]), parts[2] == DeviceSection.nights.rawValue,
                let day = LocalDay(parts[3])
            else { return nil }
            self = .night(device, day)
        default: return nil
        }
    }

    /// The parts of a path of ours, which needs no escapes; `nil` for any other.
    static func parts(_ path: String) -> [String]? {
        guard path.hasPrefix("/"), path.utf8.count <= longestPath, path.utf8.allSatisfy(isPlain) else { return nil }
        var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // With or without a slash at the end.
        if parts.last == "" { parts.removeLast() }
        return parts.contains { $0.isEmpty || $0.hasPrefix(".") } ? nil : parts
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"): true
        default: false
        }
    }
}

/// The ways to add a device. The raw value is the last part of the address.
enum AddWay: String, CaseIterable, Sendable, Hashable {
    case near, exports, phone, simulator

    var name: String {
        switch self {
        case .near: "Near"
        case .exports: "Exports"
        case .phone: "Phone"
        case .simulator: "Simulator"
        }
    }
}

/// What a form wants, by the path that it is sent to.
enum PageAction: Sendable, Hashable {
    case signIn, signOut
    case acknowledge(DeviceID), synchronise(DeviceID), measure(DeviceID), passkey(DeviceID), settings(DeviceID),
        whose(DeviceID)
    case synchroniseAll, doctor
    case scan, check, write

    /// The action of a path that begins with a slash; `nil` if there is none.
    init?(_ path: String) {
        guard let parts = PagePlace.parts(path) else { return nil }
        switch (parts.first ?? "", parts.count) {
        case ("sign-in", 1): self = .signIn
        case ("sign-out", 1): self = .signOut
        case ("gateway", 2):
            switch parts[1] {
            case "synchronise": self = .synchroniseAll
            case "doctor": self = .doctor
            default: return nil
            }
        case ("add", 2):
            switch parts[1] {
            case "scan": self = .scan
            case "check": self = .check
            case "write": self = .write
            default: return nil
            }
        case ("devices", 3):
            guard let device = DeviceID(parts[1]) else { return nil }
            switch parts[2] {
            case "acknowledge": self = .acknowledge(device)
            case "synchronise": self = .synchronise(device)
            case "measure": self = .measure(device)
            case "passkey": self = .passkey(device)
            case "settings": self = .settings(device)
            case "whose": self = .whose(device)
            default: return nil
            }
        default: return nil
        }
    }
}
