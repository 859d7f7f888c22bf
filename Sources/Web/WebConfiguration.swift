package import GatewayKit
package import Listening

/// `web:`, the gateway's own listener. Without this section it does not listen.
package struct WebConfiguration: Sendable, Hashable {
    /// `listen`, `tls`, `insecure`: where it listens. Default 127.0.0.1:8480.
    package var listen: ListenOptions
    /// `vital_metrics`: whether `/metrics` has the newest values of the devices, too. Default `false`.
    package var hasVitalMetrics: Bool
    /// The content of the files that it names, so that a renewed certificate is a change.
    private let contents: [Secret]

    /// Where it listens if `listen` is missing.
    package static let defaultAddress = "127.0.0.1:8480"

    /// Reads `web:`.
    package init(_ reader: inout ConfigurationReader) {
        listen = reader.listenOptions(default: Self.defaultAddress)
        hasVitalMetrics = reader.flag(
            "vital_metrics", default: false,
            about: "Whether /metrics has the newest values of the devices, which is health data, too.")
        contents = reader.contents
    }

    /// Whether one listener can serve both, since only its pages differ.
    func listensLike(_ other: WebConfiguration) -> Bool { listen == other.listen && contents == other.contents }
}

extension WebConfiguration {
    /// The limits of the listener that an operator can meet.
    package static let limits: [OperatorLimit] = [
        OperatorLimit(
            "connections", count: WebConnections.maximum, "others wait", "each has a descriptor"),
        OperatorLimit(
            "connections of one address", count: WebConnections.perAddress, "503, or their end with TLS",
            "no address keeps out another one"),
        OperatorLimit(
            "head of a request", bytes: WebConnections.maximumHead, "refused", "browsers send less than half"),
        OperatorLimit(
            "wait for a request", time: WebConnections.headTime, "the connection ends",
            "a silent client must not keep its place"),
        OperatorLimit(
            "taking of an answer", time: WebConnections.answerTime, "the connection ends",
            "a slow client must not keep memory"),
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
