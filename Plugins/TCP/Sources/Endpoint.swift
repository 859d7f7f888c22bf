/// The address on which a device listens.
struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// A name or an IP address.
    var host: String
    /// The TCP port, 1–65535.
    var port: Int

    /// `host:port`, with brackets around an IPv6 address as in URLs (RFC 3986).
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
