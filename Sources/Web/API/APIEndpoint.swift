import Contract

/// A resource of the API.
enum APIEndpoint: Sendable, Hashable {
    case document, devices, device, samples, days, nights, alerts, events
    /// A command of a device, by its name.
    case deviceCommand(String)
    /// A command of the gateway, by its name.
    case gatewayCommand(String)

    /// Where all of them are.
    static let root = "/api/v1/"

    /// All of them: the table that the OpenAPI document repeats.
    static let all: [APIEndpoint] =
        [.document, .devices, .device, .samples, .days, .nights, .alerts, .events]
        + (CommandParser.deviceCommands + [CommandParser.configuration]).map { APIEndpoint.deviceCommand($0) }
        + CommandParser.gatewayCommands.map { APIEndpoint.gatewayCommand($0) }

    /// Its path below `root`, with `{id}` for a device.
    var path: String {
        switch self {
        case .document: "openapi.json"
        case .devices: "devices"
        case .device: "devices/{id}"
        case .samples: "devices/{id}/samples"
        case .days: "devices/{id}/days"
        case .nights: "devices/{id}/nights"
        case .alerts: "devices/{id}/alerts"
        case .events: "events"
        case .deviceCommand(let name): "devices/{id}/commands/\(name)"
        case .gatewayCommand(let name): "commands/\(name)"
        }
    }

    /// Whether it is a command, which is posted; all others are read.
    var isCommand: Bool {
        switch self {
        case .deviceCommand, .gatewayCommand: true
        default: false
        }
    }

    /// The methods that it takes, as `Allow` has them.
    var methods: String { isCommand ? "POST" : "GET, HEAD" }

    /// The parameters of its query.
    var parameters: [APIParameter] {
        switch self {
        case .document, .device: []
        case .devices: [.person]
        case .samples: [.metric, .from, .to, .person, .limit, .cursor, .format]
        case .nights, .alerts: [.from, .to, .person, .limit, .cursor, .format]
        case .days: [.metric, .fromDay, .toDay, .limit, .cursor, .format]
        case .events: [.device, .person]
        case .deviceCommand, .gatewayCommand: [.wait]
        }
    }

    /// The entries of a page: the most, and how many there are without `limit`.
    var page: (range: ClosedRange<Int>, default: Int)? {
        switch self {
        // 1,000 plain samples have 300 KiB, and are read in milliseconds.
        case .samples: (1...1_000, 200)
        // A night may have as many stages as fifty other samples have bytes.
        case .nights: (1...50, 50)
        case .days: (1...366, 100)
        case .alerts: (1...500, 100)
        default: nil
        }
    }

    /// The scope that a token needs.
    var scope: APITokens.Scope { isCommand ? .command : .read }

    /// The resource of a path below `root`, and the id in it; `nil` where nothing is.
    static func find(_ path: Substring) -> (endpoint: APIEndpoint, id: String?)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for endpoint in all {
            let own = endpoint.path.split(separator: "/")
            guard own.count == parts.count else { continue }
            var id: String?
            let fits = zip(own, parts).allSatisfy { own, part in
                guard let text = APIQuery.decoded(part) else { return false }
                if own != "{id}" { return own == text }
                id = text
                return true
            }
            if fits { return (endpoint, id) }
        }
        return nil
    }
}
