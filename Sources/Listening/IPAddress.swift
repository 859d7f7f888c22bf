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

    /// The 4 bytes of an address of IPv4, also of one written as IPv6 (`::ffff:192.0.2.1`), and the 16 of one of IPv6; none of what
    /// is no address. A zone (`%eth0`) does not count.
    static func bytes(_ text: String) -> [UInt8] {
        let plain = String(text.prefix { $0 != "%" })
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, plain, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        guard inet_pton(AF_INET6, plain, &six) == 1 else { return [] }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let isVersion4 = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        return isVersion4 ? Array(bytes.suffix(4)) : bytes
    }
}

/// The addresses that one customer of a provider has: a single one of IPv4, and the 64 bits in which a host of IPv6 chooses its
/// address freely (RFC 4291, section 2.5.1).
struct Network: Hashable {
    /// The bytes of an address of IPv4, the first eight of one of IPv6, or what is no address, as it is.
    private let text: String

    init(of address: String) {
        let bytes = IPAddress.bytes(address)
        text = bytes.isEmpty ? address : "\(bytes.prefix(8))"
    }
}
