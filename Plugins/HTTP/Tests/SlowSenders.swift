import Concurrency
import NIOCore
import NIOPosix
import TestSupport

/// Connections from addresses of loopback that send the beginning of a request, and wait for their end.
struct SlowSenders: Sendable {
    private struct Connection: Sendable {
        var source: String
        var beginning: String
    }
    private let connections = Mailbox<Connection, Never>(capacity: .max)
    private let port: Int
    /// What the listener answered to those that it has closed.
    let answers = Recorder<String>()

    /// Runs `body`, and then closes the connections that it has begun.
    static func with(port: Int, _ body: (SlowSenders) async throws -> Void) async throws {
        let senders = SlowSenders(port: port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { running in
                    await senders.connections.forEach { connection in
                        running.addTask { await senders.hold(connection) }
                    }
                    running.cancelAll()
                }
            }
            defer {
                senders.connections.finish()
                group.cancelAll()
            }
            try await body(senders)
        }
    }

    private init(port: Int) { self.port = port }

    /// Begins connections, which last until the listener closes them or `body` ends.
    func begin(_ count: Int, from source: String, _ beginning: String) {
        for _ in 0..<count { _ = connections.offer(Connection(source: source, beginning: beginning)) }
    }

    private func hold(_ connection: Connection) async {
        let answer = (try? await answer(to: connection)) ?? "no connection"
        if !Task.isCancelled { answers.append(answer) }
    }

    private func answer(to connection: Connection) async throws -> String {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(to: SocketAddress(ipAddress: connection.source, port: 0))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound -> String in
            var answer = ""
            do {
                try? await outbound.write(ByteBuffer(string: connection.beginning))
                for try await part in inbound { answer += String(buffer: part) }
            } catch {}
            return answer
        }
    }
}
