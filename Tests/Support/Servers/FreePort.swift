import Glibc

/// A currently unused TCP port of the loopback interface.
package func freePort() throws -> Int { try HeldPort().port }

/// A TCP port of the loopback interface that the system gives to nobody else while this exists: a socket has it and does not listen, so that
/// a listener may still take it (SO_REUSEADDR, socket(7)).
package final class HeldPort: Sendable {
    package let port: Int
    private let descriptor: Int32

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ProgramError(description: "No socket: errno \(errno)") }
        var reuses: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 ? getsockname(descriptor, generic, &length) : -1
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw ProgramError(description: "No free port: errno \(errno)")
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
