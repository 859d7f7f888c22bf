import Concurrency
import Dispatch
import Glibc
import Testing

@testable import HTTP

/// Connections that come while the listener ends.
@Suite(.timeLimit(.minutes(2))) struct StopStormTests {
    /// Connects to a port of loopback, and leaves again. Returns whether somebody listened.
    private static func knock(_ port: Int) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { Glibc.close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// SwiftNIO ends the process if a connection that was set up is forgotten before somebody has served it.
    @Test func `a connection that comes as the listener ends does no harm`() async throws {
        let queue = DispatchQueue(label: "knocking")
        for _ in 0..<60 {
            let knocked = Promise<Void>()
            try await Office.with { office in
                let port = office.port
                // A connection that has to wait blocks its thread.
                queue.async {
                    for _ in 0..<20 where !Self.knock(port) { break }
                    knocked.fulfil(())
                }
            }
            try await knocked.wait()
        }
    }
}
