import Vitals

/// What a request may do, and of whom it sees what.
struct APIGrant: Sendable, Hashable {
    var scopes: Set<APITokens.Scope>
    /// Whose samples it sees; `nil` for everybody's.
    var people: Set<String>?

    /// All that the gateway's own page may do.
    static let everything = APIGrant(scopes: Set(APITokens.Scope.allCases))

    init(scopes: Set<APITokens.Scope>, people: Set<String>? = nil) {
        self.scopes = scopes
        self.people = people
    }

    init(_ token: APITokens.Token) { self.init(scopes: token.scopes, people: token.people) }

    /// Whether it sees samples of a person, or, as `nil`, of nobody who is named.
    func sees(person: String?) -> Bool {
        guard let people else { return true }
        return person.map(people.contains) ?? false
    }

    /// Whether it sees anything of a device.
    func sees(_ device: ConfiguredDevice) -> Bool {
        people == nil || sees(person: device.person) || device.people.values.contains { sees(person: $0) }
    }

    /// Whether it sees all of a device: what combines its users, and what changes it.
    func owns(_ device: ConfiguredDevice) -> Bool {
        guard people != nil else { return true }
        let wearers = [device.person].compactMap(\.self) + device.people.values
        return !wearers.isEmpty && wearers.allSatisfy { sees(person: $0) }
    }

    /// Whether it sees a state of a device. Of a device that others use, too, it sees what is about one person, and the connection.
    func sees(_ state: DeviceState, of device: ConfiguredDevice) -> Bool {
        if owns(device) { return true }
        guard sees(device) else { return false }
        return switch state {
        case .availability, .link: true
        case .latest(let latest): sees(person: device.wearers.person(user: latest.stored.sample.user))
        case .level(let level): sees(person: device.wearers.person(user: level.user))
        case .info, .today, .config, .sync, .measure, .wear, .pairing, .whose: false
        }
    }

    /// Whether it sees an event, of one person if one is given.
    func sees(_ event: EventHub.Event, of device: ConfiguredDevice, person: String?) -> Bool {
        guard person == nil || Self.person(of: event, device).map({ $0 == person }) ?? true else { return false }
        switch event.content {
        case .state(let state): return sees(state, of: device)
        case .fact(let fact):
            guard case .alert(let alert, _) = fact.content else { return false }
            return owns(device) || sees(person: device.wearers.person(user: alert.user))
        }
    }

    /// The person whom an event is about: `nil` if it is about the device, `.some(nil)` if it is about nobody who is named.
    private static func person(of event: EventHub.Event, _ device: ConfiguredDevice) -> String?? {
        switch event.content {
        case .state(let state): state.user.map { device.wearers.person(user: $0) }
        case .fact(let fact):
            if case .alert(let alert, _) = fact.content { device.wearers.person(user: alert.user) } else { nil }
        }
    }
}

extension DeviceState {
    /// The user slot of a state that is about a person: `nil` for the others.
    fileprivate var user: Int?? {
        switch self {
        case .latest(let latest): .some(latest.stored.sample.user)
        case .level(let level): .some(level.user)
        default: nil
        }
    }
}
