import Glibc
import Logging
import MQTT
import Mosquitto
import Testing

/// A server that takes no connection, so that an attempt to connect hangs for minutes.
@Suite(.timeLimit(.minutes(2))) struct HangingAttemptTests {
    /// A port of loopback that takes no SYN, since its backlog is full.
    private final class DeafPort {
        private let listener: Int32
        private var clients: [Int32] = []
        let port: Int

        init() throws {
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = listener
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, size) == 0 && listen(listener, 0) == 0
                        && getsockname(listener, address, &size) == 0
                }
            }
            port = Int(UInt16(bigEndian: address.sin_port))
            try #require(isBound)
            for _ in 0..<4 {
                let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
                let client = socket(AF_INET, Int32(type), 0)
                clients.append(client)
                withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, size) }
                }
            }
        }

        /// Refuses from now on, so that what hangs ends.
        func end() { for descriptor in clients + [listener] { close(descriptor) } }
    }

    @Test func `a server gets no second attempt while one hangs`() async throws {
        let deaf = try DeafPort()
        defer { deaf.end() }
        let options = BrokerOptions(
            servers: [BrokerServer(host: "127.0.0.1", port: deaf.port)], clientID: "a", timeout: .milliseconds(200))
        let broker = try MosquittoBroker(options, logger: Logger(label: "test"))
        let first = await brokerError { try await broker.withConnection { _ in } }
        #expect(first?.code == .timedOut)
        #expect(first?.message.contains("did not answer") == true)
        for _ in 0..<3 {
            let next = await brokerError { try await broker.withConnection { _ in } }
            #expect(next?.code == .timedOut)
            #expect(next?.message.contains("has not ended yet") == true)
        }
    }
}
