/// The address of a broker.
package struct BrokerServer: Sendable, Hashable, CustomStringConvertible {
    /// The port of MQTT without encryption, as registered with IANA.
    package static let plainPort = 1883
    /// The port of MQTT over TLS, as registered with IANA.
    package static let tlsPort = 8883

    /// A host name or an address; an IPv6 address without brackets.
    package var host: String
    /// The TCP port, 1 to 65,535.
    package var port: Int
    /// Whether the connection is encrypted.
    package var isTLS: Bool

    /// A server.
    package init(host: String, port: Int, isTLS: Bool = false) {
        self.host = host
        self.port = port
        self.isTLS = isTLS
    }

    /// Reads `mqtt://host`, `mqtts://host:port` or `mqtt://[::1]:port`.
    /// - Throws: `BrokerError` `.invalidOptions` with the error in `url`.
    package init(url: String) throws(BrokerError) {
        func invalid(_ what: String) -> BrokerError {
            // The URL may contain a password by mistake, so the error does not repeat it.
            BrokerError(.invalidOptions, "\(what) Write mqtt://host:1883, or mqtts://host:8883 for TLS.")
        }
        let rest: Substring
        if url.hasPrefix("mqtts://") {
            isTLS = true
            rest = url.dropFirst("mqtts://".count)
        } else if url.hasPrefix("mqtt://") {
            isTLS = false
            rest = url.dropFirst("mqtt://".count)
        } else {
            throw invalid("The broker's URL does not begin with mqtt:// or mqtts://.")
        }
        guard !rest.contains("@") else {
            throw invalid("The broker's URL contains a user; user name and password have settings of their own.")
        }
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.contains(where: { "/?# ".contains($0) }) else {
            throw invalid("The broker's URL contains more than a host and a port.")
        }
        let portText: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else {
                throw invalid("The broker's URL has a [ without a ].")
            }
            host = String(authority[authority.index(after: authority.startIndex)..<end])
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else {
                throw invalid("The broker's URL has something other than a port after the ].")
            }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else {
            let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else {
                throw invalid("The broker's URL has several colons; write an IPv6 address in brackets.")
            }
            host = String(parts.first ?? "")
            portText = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty else { throw invalid("The broker's URL has no host.") }
        if let portText {
            guard let port = UInt16(portText), port > 0 else {
                throw invalid("The port of the broker's URL is not a number from 1 to 65535.")
            }
            self.port = Int(port)
        } else {
            port = isTLS ? Self.tlsPort : Self.plainPort
        }
    }

    /// The server as a URL.
    package var description: String {
        "\(isTLS ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
