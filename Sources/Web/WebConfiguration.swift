package import GatewayKit
package import Listening

/// `web:`, the gateway's own listener. Without this section it listens only if a device posts to it, by these defaults.
package struct WebConfiguration: Sendable, Hashable {
    /// `listen`, `tls`, `insecure`: where it listens. Default 127.0.0.1:8480.
    package var listen: ListenOptions
    /// `trusted_proxies`: the proxies that truly say who sends. Default none.
    package var proxies: TrustedProxies
    /// `plain_api_secret`: whether apps of Nightscout may send their secret without TLS from beyond this machine. Default `false`.
    package var allowsPlainSecret: Bool
    /// `vital_metrics`: whether `/metrics` has the newest values of the devices, too. Default `false`.
    package var hasVitalMetrics: Bool
    /// `tokens`: the programs that may use the API. Default: none.
    package var tokens: APITokens
    /// `password`, `ingress`, `users`: who may see the pages.
    package var access: AccessRule
    /// The content of the files that it names, so that a renewed certificate is a change.
    private let contents: [Secret]

    /// Where it listens if `listen` is missing.
    package static let defaultAddress = "127.0.0.1:8480"

    /// Reads `web:`.
    package init(_ reader: inout ConfigurationReader) {
        listen = reader.listenOptions(default: Self.defaultAddress)
        proxies = reader.trustedProxies()
        allowsPlainSecret = reader.flag(
            "plain_api_secret", default: false,
            about:
                "Whether apps of Nightscout may post from beyond this machine without TLS: who listens can send as they do."
        )
        hasVitalMetrics = reader.flag(
            "vital_metrics", default: false,
            about: "Whether /metrics has the newest values of the devices, which is health data, too.")
        access = AccessRule(&reader)
        if access.hasIngress { proxies = proxies.adding(AccessRule.supervisor) }
        contents = reader.contents
        tokens = APITokens(&reader)
    }

    /// Who may use the API: without tokens only this machine, as long as its page needs no password.
    var apiAccess: API.Access {
        API.Access(tokens, isOpen: listen.address.isLoopback && !access.hasPassword && !access.hasIngress)
    }

    /// Whether one listener can serve both, since only its pages differ.
    func listensLike(_ other: WebConfiguration) -> Bool {
        listen == other.listen && proxies == other.proxies && contents == other.contents
            && allowsPlainSecret == other.allowsPlainSecret
    }
}

extension WebConfiguration {
    /// The limits of the listener that an operator can meet.
    package static let limits: [OperatorLimit] = [
        OperatorLimit("a document", bytes: BodyBudget.maximumBody, "413", "a month of minutes of a phone has 5 MiB"),
        OperatorLimit(
            "documents at a time", bytes: BodyBudget.maximumBytes, "503", "three of the longest, and small ones"),
        OperatorLimit(
            "arrival of a document", time: DocumentRequests.bodyTime, "408", "20 MiB over a slow wireless network"),
        OperatorLimit("storing of a document", time: DocumentRequests.answerTime, "503", "apps give up after 60 s"),
        OperatorLimit("connections", count: WebConnections.maximum, "others wait", "each has a descriptor"),
        OperatorLimit(
            "connections without a right token", count: WebConnections.maximumStrangers, "others wait",
            "the rest is for devices"),
        OperatorLimit(
            "connections of one address without a right token", count: WebConnections.strangersPerAddress,
            "503, or their end with TLS", "no address keeps out another one"),
        OperatorLimit(
            "connections of one address with a right token", count: WebConnections.provenPerAddress, "503",
            "others find a place"),
        OperatorLimit(
            "event streams", count: WebConnections.maximumStreams, "503", "each page with live values has one"),
        OperatorLimit("trusted proxies", count: TrustedProxies.maximumEntries, "an error", "a person lists a few"),
        OperatorLimit(
            "path that a trusted proxy puts before", bytes: TrustedProxies.maximumBase, "it counts as none",
            "Home Assistant's has 63 bytes"),
        OperatorLimit(
            "head of a request", bytes: WebConnections.maximumHead, "refused", "browsers send less than half"),
        OperatorLimit(
            "wait for a request", time: WebConnections.headTime, "the connection ends",
            "a silent client must not keep its place"),
        OperatorLimit(
            "arrival of what is sent to a page", time: WebConnections.bodyTime, "408", "a form has some kilobytes"),
        OperatorLimit(
            "taking of an answer, or of a part of a stream", time: WebConnections.answerTime, "the connection ends",
            "a slow client must not keep memory"),
        OperatorLimit(
            "tokens of the API", count: APITokens.maximum, "the configuration is refused",
            "each request is compared with all of them"),
        OperatorLimit(
            "persons of a token", count: APITokens.maximumPeople, "the configuration is refused",
            "as many as can share a device"),
        OperatorLimit(
            "query of the API", bytes: APIParameter.maximumQuery, "400", "the longest that makes sense has 500"),
        OperatorLimit(
            "a stream of events", time: EventStream.longest, "it ends, and the client goes on where it was",
            "a token that was taken back must not be read for ever"),
        OperatorLimit(
            "events for who comes back", count: EventHub.kept, "all states again",
            "ten seconds of fifty devices with two values a second"),
        OperatorLimit("form of a page", bytes: PageSite.maximumForm, "413", "all settings of a device have 8 kB"),
        OperatorLimit(
            "sessions of people who have signed in", count: PageSessions.maximum,
            "the one that was used longest ago ends",
            "a family with all of its browsers"),
        OperatorLimit(
            "sessions of guests", count: PageSessions.maximumGuests, "the one that was used longest ago ends",
            "each request without a cookie makes one"),
        OperatorLimit("session without a request", time: PageSessions.idle, "it ends", "a lost phone"),
        OperatorLimit("session", time: PageSessions.lifetime, "it ends", "a cookie that was copied"),
        OperatorLimit(
            "passwords that are checked at a time", count: PageMemory.maximumChecks, "429",
            "each takes a tenth of a second"),
        OperatorLimit(
            "pages with live values", count: PageMemory.maximumStreams, "503", "each asks every second what has changed"
        ),
        OperatorLimit(
            "stream of live values", time: PageSite.longestStream, "the browser opens another one",
            "rights are looked at again"),
        OperatorLimit(
            "samples of a plot", count: PageSources.maximumSamples, "the rest is not drawn, and the page says so",
            "two months of five-minute values"),
        OperatorLimit(
            "small plots of the overview", count: Sparklines.maximum, "the others have none",
            "each is a reading of the store"),
        OperatorLimit(
            "users of Home Assistant with persons", count: AccessRule.maximumUsers, "an error", "a person lists a few"),
        OperatorLimit("scrapes at a time", count: MetricsPage.atOnce, "503", "each builds a whole answer"),
        OperatorLimit(
            "answer of `/metrics`", bytes: MetricsPage.maximumAnswer,
            "`vitals2mqtt_metrics_omitted_devices` counts the devices that are not in it", "10,000 devices"),
        OperatorLimit(
            "sign of life of a part for `/health/live`", time: HealthPage.limit, "503",
            "a part that works answers within milliseconds"),
        OperatorLimit(
            "names in an answer about health", count: HealthPage.maximumNames, "the others are counted",
            "of thousands that are late together some are enough"),
    ]
}
