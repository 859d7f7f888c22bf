package import GatewayKit

/// The proxies in front of a service that truly say who sends: addresses, and networks in CIDR notation (RFC 4632).
package struct TrustedProxies: Sendable, Hashable {
    /// The most addresses and networks: a person lists a few.
    package static let maximumEntries = 32
    /// The most bytes of the path that a proxy puts before: Home Assistant's has 63.
    package static let maximumBase = 256

    /// The addresses with the same first bits.
    private struct Block: Hashable {
        let bytes: [UInt8]
        let bits: Int

        /// Reads `192.0.2.1` or `192.0.2.0/24`; `nil` if it is neither. No bits at all would be every address.
        init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            bytes = IPAddress.bytes(String(parts[0]))
            let length: Int? = parts.count > 1 ? Int(parts[1]) : bytes.count * 8
            bits = length ?? 0
            guard bits > 0, bits <= bytes.count * 8 else { return nil }
        }

        func contains(_ address: [UInt8]) -> Bool {
            guard address.count == bytes.count else { return false }
            return (0..<bits).allSatisfy { bit in
                (address[bit / 8] ^ bytes[bit / 8]) & (UInt8(0x80) >> (bit % 8)) == 0
            }
        }
    }
    private let blocks: [Block]

    /// No proxies.
    package init() { blocks = [] }

    private init(_ blocks: [Block]) { self.blocks = blocks }

    /// These proxies, and the one at an address.
    package func adding(_ address: String) -> TrustedProxies {
        TrustedProxies(blocks + [Block(address)].compactMap { $0 })
    }

    /// Reads the entries.
    /// - Throws: which of them is no address and no network.
    package init(_ texts: [String]) throws(ListenError) {
        var blocks: [Block] = []
        for text in texts {
            guard let block = Block(text) else {
                throw ListenError(
                    "\(text) is no address such as 192.0.2.1 or 2001:db8::1, and no network such as 192.0.2.0/24 with one bit at "
                        + "least.")
            }
            blocks.append(block)
        }
        self.blocks = blocks
    }

    /// Whether a connection from this address is a trusted proxy's.
    package func contains(_ address: String) -> Bool {
        let bytes = IPAddress.bytes(address)
        return blocks.contains { $0.contains(bytes) }
    }

    /// Whose a request is: the peer's or, behind a trusted proxy, the one that this proxy has appended, the last one of its field.
    ///
    /// The addresses before it are the sender's own words. So is one of the two fields if they differ, since a proxy writes one of
    /// them. Then, and if there is no address, the request is the proxy's own.
    /// - Parameters:
    ///   - forwardedFor: the lines of `X-Forwarded-For`, in their order.
    ///   - forwarded: those of `Forwarded` (RFC 7239).
    package func sender(behind peer: String, forwardedFor: [String], forwarded: [String]) -> String {
        guard contains(peer) else { return peer }
        let named: [String?] = [
            forwardedFor.last.map { Self.address(Self.lastElement($0)) },
            forwarded.last.map { Self.address(Self.node(Self.lastElement($0))) },
        ].compactMap { $0 }
        guard let address = named.first ?? nil, Set(named.map { IPAddress.bytes($0 ?? "") }).count == 1 else {
            return peer
        }
        return address
    }

    /// Whether the proxy got a request over TLS: the last word of `X-Forwarded-Proto`.
    package static func isEncrypted(forwardedProto: [String]) -> Bool {
        forwardedProto.last.map { lastElement($0).lowercased() } == "https"
    }

    /// What the proxy puts before each path, by its `X-Ingress-Path`: with a slash at both ends, and `/` without the field, or if it is no
    /// plain path of letters, digits and `-._~` (RFC 3986, section 2.3), so that it leads to no other machine, script or folder.
    package static func base(ingressPath: [String]) -> String {
        guard ingressPath.count == 1, let path = ingressPath.first, path.utf8.count <= maximumBase,
            path.hasPrefix("/")
        else { return "/" }
        let names = (path.hasSuffix("/") ? path.dropFirst().dropLast() : path.dropFirst())
            .split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && !name.allSatisfy { $0 == "." }
                && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
        }
        return isPlain ? "/\(names.joined(separator: "/"))/" : "/"
    }

    private static func lastElement(_ field: String) -> Substring {
        let start = field.lastIndex(of: ",").map { field.index(after: $0) } ?? field.startIndex
        return trimmed(field[start...])
    }

    /// The value of `for=…`; empty without one.
    private static func node(_ element: Substring) -> Substring {
        let name = "for="
        let pair = element.split(separator: ";").map { trimmed($0) }.first { $0.lowercased().hasPrefix(name) }
        let value = pair?.dropFirst(name.count) ?? ""
        guard value.count > 1, value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        return value.dropFirst().dropLast()
    }

    /// The address of `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:80`, without a zone; `nil` of
    /// anything else.
    private static func address(_ node: Substring) -> String? {
        var text = node
        if node.hasPrefix("["), let end = node.firstIndex(of: "]") {
            let rest = node[node.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            text = node[..<end].dropFirst()
        } else if node.count(where: { $0 == ":" }) == 1 {
            text = node.prefix { $0 != ":" }
        }
        let address = String(text.prefix { $0 != "%" })
        return IPAddress.bytes(address).isEmpty ? nil : address
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }
}

extension ConfigurationReader {
    /// Reads `trusted_proxies`.
    package mutating func trustedProxies() -> TrustedProxies {
        let key = "trusted_proxies"
        let texts = oneOrMoreStrings(
            key, limit: TrustedProxies.maximumEntries,
            about: "Proxies that name the sender in X-Forwarded-For or Forwarded: addresses, or networks in CIDR.")
        // What is no text was reported, and is an empty one here.
        do throws(ListenError) { return try TrustedProxies((texts ?? []).filter { !$0.isEmpty }) } catch {
            report(error.description, at: key)
            return TrustedProxies()
        }
    }
}
