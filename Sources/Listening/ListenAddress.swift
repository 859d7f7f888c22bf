import GatewayKit
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where a service listens: an IP address and a TCP port, written `127.0.0.1:8480` or `[::1]:8480`.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A numeric IPv4 or IPv6 address; `0.0.0.0` and `::` are all of the machine's.
    package var host: String
    /// The port, 0 to 65535; at 0 the system chooses a free one.
    package var port: Int

    /// `host:port`, with brackets around an IPv6 address as in URLs (RFC 3986).
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only programs of this machine can reach it.
    package var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// Whether the system lets only one of two services listen at these addresses at a time. All of the machine's addresses are
    /// also each of them, and `::` takes those of IPv4, too.
    package func collides(with other: ListenAddress) -> Bool {
        guard port == other.port, port != 0 else { return false }
        let (one, two) = (IPAddress.bytes(host), IPAddress.bytes(other.host))
        let isAny = [one, two].contains { $0.allSatisfy { $0 == 0 } && $0.count == 16 }
        if isAny || one == two { return true }
        return one.count == two.count && [one, two].contains { $0.allSatisfy { $0 == 0 } }
    }

    /// Reads an address; `nil` if it is none.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard IPAddress.isVersion6(host) else { return nil }
        } else {
            guard IPAddress.isVersion4(host) else { return nil }
        }
        self.host = host
        self.port = port
    }
}

#if canImport(Glibc)
    private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
    private let streamSocket = SOCK_STREAM
#endif

extension ListenAddress {
    /// Listens for a moment, as a service does.
    /// - Throws: why a service cannot listen there now.
    package func tryListening() throws(ListenError) {
        do {
            let address = try SocketAddress(ipAddress: host, port: port)
            let descriptor = socket(IPAddress.isVersion6(host) ? AF_INET6 : AF_INET, streamSocket, 0)
            guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
            defer { close(descriptor) }
            // As the services do: connections that have ended keep no port.
            var isReused: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
            let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
            guard isBound, listen(descriptor, 1) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
        } catch {
            throw ListenError(error, at: self)
        }
    }
}

/// Why a service cannot listen: a sentence for a person.
package struct ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether another socket has the address.
    package let isTaken: Bool

    package init(_ description: String, isTaken: Bool = false) {
        self.description = description
        self.isTaken = isTaken
    }

    /// The reason why listening at an address failed, with the remedy.
    package init(_ error: any Error, at address: ListenAddress) {
        let code = (error as? IOError)?.errnoCode
        let reason =
            switch code {
            case EADDRINUSE: "another program listens there. Stop that one, or choose another port"
            case EACCES: "the system does not allow it. Ports below 1024 need a privilege; choose a higher one"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "\(error)"
            }
        self.init("Cannot listen at \(address): \(reason).", isTaken: code == EADDRINUSE)
    }
}
