import GatewayKit
import Vitals

extension DeviceTarget {
    /// The default limit of connecting: BlueZ itself gives up after about 20 s, and then the services are read.
    static let connectTimeout: Duration = .seconds(40)
    static let connectTimeouts: ClosedRange<Duration> = .seconds(5) ... .minutes(2)
    /// The default time between two visits: a battery of a small device lasts.
    static let visitEvery: Duration = .minutes(15)
    static let visitEveryRange: ClosedRange<Duration> = .seconds(10) ... .hours(24)
    /// The default silence after which a visit ends: longer than the pauses of a device that reads its memory.
    static let visitIdle: Duration = .seconds(10)
    static let visitIdleRange: ClosedRange<Duration> = .seconds(2) ... .minutes(5)
    /// The default length of a visit, for devices that never are silent.
    static let visitLongest: Duration = .minutes(5)
    static let visitLongestRange: ClosedRange<Duration> = .seconds(10) ... .hours(1)

    private enum DutyName: String, CaseIterable { case stay, visit }
    private enum PairingName: String, CaseIterable {
        case none
        case justWorks = "just_works"
        case passkey, ask
    }

    /// Reads the keys of `transport:`.
    init(_ options: inout ConfigurationReader) {
        adapter = options.optionalString("adapter")
        selector = options.selector()
        connectTimeout = options.duration(
            "connect_timeout", in: Self.connectTimeouts, default: Self.connectTimeout)
        let every = options.duration("visit_every", in: Self.visitEveryRange, default: Self.visitEvery)
        let idle = options.duration("visit_idle", in: Self.visitIdleRange, default: Self.visitIdle)
        let longest = options.duration("visit_longest", in: Self.visitLongestRange, default: Self.visitLongest)
        switch options.choice("duty", of: DutyName.self, default: .stay) {
        case .visit:
            duty = .visit(every: every, idle: idle, longest: longest)
            if options.value("visit_idle") != nil, idle >= longest {
                options.report(
                    "It must be shorter than visit_longest, which is \(longest.configurationText): no visit would end by silence.",
                    at: "visit_idle")
            }
        case .stay:
            duty = .stay
            for key in ["visit_every", "visit_idle", "visit_longest"] where options.value(key) != nil {
                options.report("It has a meaning only with duty: visit.", at: key)
            }
        }
        let secret = options.secret("passkey")
        switch options.choice("pairing", of: PairingName.self, default: .none) {
        case .none: pairing = .none
        case .justWorks: pairing = .justWorks
        case .ask: pairing = .ask
        case .passkey:
            pairing = .ask
            guard let secret else {
                if options.value("passkey") == nil {
                    options.report(
                        "passkey is missing: {file: PATH} or {env: NAME} with its six digits. If the device makes a new one for "
                            + "each pairing, write pairing: ask.", at: "pairing")
                }
                return
            }
            guard let passkey = Passkey(secret.value) else {
                options.report("A passkey has six digits.", at: "passkey")
                return
            }
            pairing = .passkey(passkey)
        }
        if [.none, .justWorks, .ask].contains(pairing), secret != nil {
            options.report("It has a meaning only with pairing: passkey.", at: "passkey")
        }
    }
}

extension ConfigurationReader {
    /// Reads `address` or `name`.
    fileprivate mutating func selector() -> DeviceTarget.Selector {
        let (address, name) = (optionalString("address"), optionalString("name"))
        switch (address, name) {
        case (let address?, nil):
            let upper = address.uppercased()
            let parts = upper.split(separator: ":", omittingEmptySubsequences: false)
            if parts.count != 6 || !parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) {
                report("An address is needed here, such as A4:C1:38:00:11:22.", at: "address")
            }
            return .address(upper)
        case (nil, let name?): return .name(name)
        case (_?, _?): report("The device is recognised by its address or by its name; remove one.", at: "name")
        case (nil, nil): report("address or name is missing: how the device is recognised.")
        }
        return .name("")
    }
}
