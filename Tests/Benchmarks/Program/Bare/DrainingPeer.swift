import Foundation
import Glibc

/// A gateway that greets a device and then discards its input.
final class DrainingPeer: Sendable {
    private let socket: Int32

    init(port: UInt16) throws {
        let socket = try Loopback.connect(to: port)
        self.socket = socket
        let greeting = Array(#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":1}}"#.utf8) + [10]
        guard send(socket, greeting, greeting.count, Int32(MSG_NOSIGNAL)) == greeting.count else {
            throw BenchError.system("Cannot greet the feeder", errno)
        }
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 1 << 18)
            while recv(socket, &buffer, buffer.count, 0) > 0 {}
            close(socket)
        }
    }

    /// Ends the connection; the thread closes the socket.
    func end() { shutdown(socket, Int32(SHUT_RDWR)) }
}
