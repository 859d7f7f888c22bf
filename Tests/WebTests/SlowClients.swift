import Concurrency
import NIOCore
import NIOPosix
import TestSupport

/// Connections from addresses of loopback that send the beginning of a request, and wait for their end.
struct SlowClients: Sendable {
    private struct Connection: Sendable {
        var source: String
        var beginning: String
        var reads: Bool
    }
    private let connections = Mailbox<Connection, Never>(capacity: .max)
    private let port: Int
    /// What came over those that the listener has closed.
    let answers = Recorder<String>()

    /// Runs `body`, and then closes the connections that it has begun.
    static func with(port: Int, _ body: (SlowClients) async throws -> Void) async throws {
        let clients = SlowClients(port: port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { running in
                    await clients.connections.forEach { connection in
                        running.addTask { await clients.hold(connection) }
                    }
                    running.cancelAll()
                }
            }
            defer {
                clients.connections.finish()
                group.cancelAll()
            }
            try await body(clients)
        }
    }

    private init(port: Int) { self.port = port }

    /// Begins connections, which last until the listener closes them or `body` ends.
    /// - Parameter reads: whether they read what comes.
    func begin(_ count: Int, from source: String, _ beginning: String, reads: Bool = true) {
        for _ in 0..<count {
            _ = connections.offer(Connection(source: source, beginning: beginning, reads: reads))
        }
    }

    private func hold(_ connection: Connection) async {
        let answer = (try? await answer(to: connection)) ?? "no connection"
        if !Task.isCancelled { answers.append(answer) }
    }

    private func answer(to connection: Connection) async throws -> String {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.autoRead, value: connection.reads)
            .channelOption(.socketOption(.so_rcvbuf), value: 4096)
            .bind(to: SocketAddress(ipAddress: connection.source, port: 0))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound -> String in
            var answer = ""
            do {
                // A client that comes late to write still reads the refusal that came meanwhile.
                if !connection.beginning.isEmpty { try? await outbound.write(ByteBuffer(string: connection.beginning)) }
                if connection.reads {
                    for try await part in inbound { answer += String(buffer: part) }
                } else {
                    // Until the test ends: what comes is left to the system.
                    try await Promise<Void>().wait()
                }
            } catch {}
            return answer
        }
    }
}
