import Glibc

/// Recognises numeric addresses as the system does (inet_pton(3)).
enum IPAddress {
    static func isVersion4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    static func isVersion6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    /// The 4 bytes of an address of IPv4, the 16 of one of IPv6; none of what is no address.
    static func bytes(_ text: String) -> [UInt8] {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: six) { Array($0) } }
        return []
    }
}

/// The addresses that one customer of a provider has: a single one of IPv4, and the 64 bits in which a host of IPv6 chooses its
/// address freely (RFC 4291, section 2.5.1).
struct Network: Hashable {
    /// The text of an address of IPv4, the first eight bytes of one of IPv6, or what is no address, as it is.
    private let text: String

    /// The network of a numeric address. A zone (`%eth0`) does not count, and IPv4 written as IPv6 is IPv4.
    init(of address: String) {
        let plain = String(address.prefix { $0 != "%" })
        var parsed = in6_addr()
        guard inet_pton(AF_INET6, plain, &parsed) == 1 else {
            text = plain
            return
        }
        let bytes = withUnsafeBytes(of: parsed) { Array($0) }
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xff, bytes[11] == 0xff {
            text = bytes.suffix(4).map { "\($0)" }.joined(separator: ".")
        } else {
            text = "\(bytes.prefix(8))"
        }
    }
}
