import Foundation
import Glibc

/// Reports the gateway's state to the service manager, by the protocol of sd_notify(3). Not by libsystemd, which would be
/// a dependency for four lines of text.
package final class ServiceNotifier: Sendable {
    /// The time within which the service manager wants a sign of life; `nil` if it does not watch this process.
    package let watchdog: Duration?
    private let descriptor: Int32
    private let address: [UInt8]

    /// The notifier for this environment; `nil` if no service manager listens, or its address is none.
    package init?(environment: [String: String], process: Int32 = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], let address = Self.address(path) else { return nil }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.address = address
        let isOfOther = environment["WATCHDOG_PID"].map { $0 != "\(process)" } ?? false
        watchdog = isOfOther ? nil : environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds($0) }
    }

    deinit { close(descriptor) }

    /// Sends lines such as `READY=1`, and never waits. Returns whether the service manager has taken them.
    @discardableResult
    package func send(_ lines: String...) -> Bool {
        let bytes = Array(lines.joined(separator: "\n").utf8)
        return address.withUnsafeBytes { address in
            guard let base = address.baseAddress else { return false }
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            return sendto(
                descriptor, bytes, bytes.count, flags, base.assumingMemoryBound(to: sockaddr.self),
                socklen_t(address.count)) == bytes.count
        }
    }

    /// The bytes of a `sockaddr_un`: a path, or `@` and a name in the abstract name space (unix(7)).
    private static func address(_ path: String) -> [UInt8]? {
        var name = Array(path.utf8)
        guard name.count > 1, let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else {
            return nil
        }
        // An abstract name has its exact length, a path ends with a zero byte.
        if first == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
        guard name.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        return withUnsafeBytes(of: sa_family_t(AF_UNIX)) { Array($0) } + name
    }
}
