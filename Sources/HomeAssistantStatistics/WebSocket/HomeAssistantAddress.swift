/// Where Home Assistant's WebSocket is, from the address that a browser shows: `http://host:8123`.
package struct HomeAssistantAddress: Sendable, Hashable, CustomStringConvertible {
    package var host: String
    package var port: Int
    package var isTLS: Bool
    /// The path of the WebSocket.
    package var path: String

    /// The most characters of an address.
    package static let limit = 2_000

    /// Reads `http://HOST[:PORT][/PATH]` or `https://…`; `nil` for anything else.
    package init?(url: String) {
        let (scheme, rest): (String, Substring)
        if url.hasPrefix("http://") {
            (scheme, rest) = ("http", url.dropFirst(7))
        } else if url.hasPrefix("https://") {
            (scheme, rest) = ("https", url.dropFirst(8))
        } else {
            return nil
        }
        guard url.count <= Self.limit, url.allSatisfy({ $0.isASCII && $0 > " " && !"@?#\\".contains($0) }) else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" }
        var folder = rest.dropFirst(authority.count)
        while folder.last == "/" { folder.removeLast() }
        isTLS = scheme == "https"
        path = "\(folder)/api/websocket"
        let name: Substring
        let end: Substring
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            name = authority[authority.index(after: authority.startIndex)..<close]
            end = authority[authority.index(after: close)...]
            guard name.contains(":"), name.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
        } else {
            name = authority.prefix { $0 != ":" }
            end = authority.dropFirst(name.count)
            guard name.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }) else { return nil }
        }
        guard !name.isEmpty else { return nil }
        host = String(name)
        if end.isEmpty {
            port = isTLS ? 443 : 80
        } else {
            guard end.first == ":", let number = Int(end.dropFirst()), (1...65_535).contains(number) else { return nil }
            port = number
        }
    }

    /// Whether it is on this machine, so that the connection cannot be tapped.
    package var isLoopback: Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return host == "localhost" || host == "::1" || numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }

    /// The host as written in an address.
    var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    package var description: String { authority }
}
