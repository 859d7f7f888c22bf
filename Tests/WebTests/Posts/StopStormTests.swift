import Concurrency
import Dispatch
import Glibc
import NIOCore
import Testing

@testable import Web

/// Connections that come while the listener ends.
@Suite(.timeLimit(.minutes(2))) struct StopStormTests {
    /// Connects to a port of loopback, and leaves again. Returns whether a program listened.
    private static func knock(_ port: Int) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { Glibc.close(socket) }
        // The system's own structures belong to different modules, depending on what is compiled together.
        guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: port) else { return false }
        return address.withSockAddr { Glibc.connect(socket, $0, socklen_t($1)) == 0 }
    }

    /// SwiftNIO ends the process if a connection that was set up is released before a task has served it.
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
