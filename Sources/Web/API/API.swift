package import Contract
import HTTPTypes
import Listening
package import Logging
import Synchronization
package import Vitals

/// The API of the gateway for programs: `/api/v1/`. It reads what the gateway has, and takes its commands.
///
/// It outlives the configurations: guesses are counted over a reload.
package final class API: Sendable {
    /// What the API needs of the gateway.
    package struct Sources: Sendable {
        let reader: any GatewayReader
        let commander: any GatewayCommander
        let events: EventHub
        let topics: ContractTopics
        let calendar: LocalCalendar
        let clock: GatewayClock
        let logger: Logger

        package init(
            reader: any GatewayReader, commander: any GatewayCommander, events: EventHub, topics: ContractTopics,
            calendar: LocalCalendar, clock: GatewayClock, logger: Logger
        ) {
            self.reader = reader
            self.commander = commander
            self.events = events
            self.topics = topics
            self.calendar = calendar
            self.clock = clock
            self.logger = logger
        }

        var encoder: ContractEncoder { ContractEncoder(topics: topics, calendar: calendar) }
    }

    /// Who may use the API.
    package struct Access: Sendable, Hashable {
        var tokens: APITokens
        /// Whether nobody of this machine needs a token, since the gateway's own page needs no password. With a token in the configuration
        /// everybody needs one.
        var isOpen: Bool

        package init(_ tokens: APITokens, isOpen: Bool) {
            self.tokens = tokens
            self.isOpen = isOpen && tokens.tokens.isEmpty
        }
    }

    let sources: Sources
    let logins = LoginRateLimiter()
    let log = RefusalLog()
    private let access = Mutex<Access?>(nil)

    package init(_ sources: Sources) { self.sources = sources }

    /// The API as a configuration has it.
    package func page(_ access: Access) -> any WebPage {
        self.access.withLock { $0 = access }
        return APIPage(self, access)
    }

    /// Whether a configuration is still in force: a stream ends when it is not.
    func isCurrent(_ access: Access) -> Bool { self.access.withLock { $0 } == access }
}

/// All resources of the API, for those whom one configuration allows it.
struct APIPage: WebPage {
    let api: API
    let access: API.Access

    init(_ api: API, _ access: API.Access) {
        self.api = api
        self.access = access
    }

    var path: String { APIEndpoint.root }
    var maximumBody: Int { CommandLimits.payload }
    var isCostly: Bool { true }

    var sources: API.Sources { api.sources }

    func answer(to request: WebRequest) async -> WebAnswer {
        do throws(APIError) { return try await result(of: request) } catch {
            if error.status != 404, error.status != 400, api.log.mayLog(at: sources.clock.uptime) {
                sources.logger.notice(
                    "A request to the API was refused.",
                    metadata: ["sender": "\(request.address)", "status": "\(error.status)", "reason": "\(error.code)"])
            }
            return error.webAnswer
        }
    }

    private func result(of request: WebRequest) async throws(APIError) -> WebAnswer {
        let found = APIEndpoint.find(request.path.dropFirst(APIEndpoint.root.count))
        if case .document? = found?.endpoint, ["GET", "HEAD"].contains(request.method) { return try document(request) }
        let grant = try grant(of: request)
        guard let (endpoint, id) = found else {
            throw .notFound("There is nothing here. \(APIEndpoint.root)openapi.json says what there is.")
        }
        guard endpoint.methods.split(separator: ", ").contains(where: { $0 == request.method }) else {
            throw .wrongMethod(endpoint.methods)
        }
        guard grant.scopes.contains(endpoint.scope) else {
            throw .forbidden("The token has not the scope \(endpoint.scope.rawValue).")
        }
        var device: ConfiguredDevice?
        if let id { device = try await self.device(id, for: grant) }
        let query = try APIQuery(request.query, known: endpoint.parameters)
        let call = APICall(endpoint: endpoint, grant: grant, query: query, request: request)
        switch (endpoint, device) {
        case (.devices, _): return try await devices(call)
        case (.device, let device?): return try await self.device(device, call)
        case (.samples, let device?): return try await samples(of: device, try query.metric(), call)
        case (.nights, let device?): return try await nights(of: device, call)
        case (.days, let device?): return try await days(of: device, try query.metric(), call)
        case (.alerts, let device?): return try await alerts(of: device, call)
        case (.events, _): return try await events(call)
        case (.deviceCommand(let name), let device?): return try await command(name, of: device, call)
        case (.gatewayCommand(let name), _): return try await command(name, of: nil, call)
        default: throw .notFound("There is nothing here.")
        }
    }

    /// The device of a name, in a path or a query.
    /// - Throws: that it is not there, also of one that the token may not see.
    func device(_ id: String, for grant: APIGrant) async throws(APIError) -> ConfiguredDevice {
        guard let device = await sources.reader.devices.first(where: { $0.id.text == id && grant.sees($0) }) else {
            throw .notFound("There is no such device; see \(APIEndpoint.root)devices.")
        }
        return device
    }

    /// What this request may do.
    private func grant(of request: WebRequest) throws(APIError) -> APIGrant {
        // A page of a stranger, in the browser of somebody who may.
        if let site = request.headers[.secFetchSite], site != "none", site != "same-origin" {
            throw .forbidden("Other sites may not use the API.")
        }
        // Behind a proxy that says so, whoever asks is elsewhere.
        if access.isOpen, Self.isLocal(request.address) { return .everything }
        guard let text = request.headers[.authorization].flatMap(Self.token) else { throw .unauthorized }
        let uptime = sources.clock.uptime
        // Each token waits for itself, and a network that guesses for all that were never right there.
        let name = SampleID(name: String(text.prefix(APITokens.maximumLength))).description
        if let wait = api.logins.wait(of: request.address, for: name, at: uptime) { throw .tooSoon(wait) }
        guard let token = access.tokens.token(text) else {
            api.logins.failed(request.address, for: name, at: uptime)
            throw .unauthorized
        }
        api.logins.succeeded(request.address, for: name, at: uptime)
        return APIGrant(token)
    }

    /// Whether an address is one of this machine.
    private static func isLocal(_ address: String) -> Bool {
        let plain = address.hasPrefix("::ffff:") ? String(address.dropFirst(7)) : address
        return plain.hasPrefix("127.") || plain == "::1"
    }

    /// The token of `Bearer <token>` (RFC 6750, section 2.1).
    private static func token(_ authorization: String) -> String? {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].trimmed
        return token.isEmpty ? nil : String(token)
    }

    private func document(_ request: WebRequest) throws(APIError) -> WebAnswer {
        let query = try APIQuery(request.query, known: APIEndpoint.document.parameters)
        _ = try query.format(accept: request.headers[.accept], among: [.json])
        return WebAnswer(200, APIFormat.json.mediaType, PackageResources.openapi_json)
    }
}

/// A request that may be answered.
struct APICall: Sendable {
    let endpoint: APIEndpoint
    let grant: APIGrant
    let query: APIQuery
    let request: WebRequest

    /// Whether the samples of a person are wanted, and may be seen.
    func shows(person: String?) -> Bool {
        grant.sees(person: person) && (query[.person] == nil || query[.person] == person)
    }

    /// The form of the answer.
    func format(among offered: [APIFormat] = [.json]) throws(APIError) -> APIFormat {
        try query.format(accept: request.headers[.accept], among: offered)
    }

    /// The entries of a page.
    func limit() throws(APIError) -> Int {
        guard let page = endpoint.page else { return 1 }
        return try query.number(.limit, in: page.range, default: page.default)
    }
}

extension HTTPField.Name {
    /// From where a browser asks (Fetch Metadata).
    fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
