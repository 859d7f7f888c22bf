import Concurrency
import HomeAssistantStatistics
import NIOCore
import NIOWebSocket
import Testing

/// The WebSocket client with a real server on loopback.
///
/// One after the other: the client has one thread, which a message of megabytes holds for a while.
@Suite(.serialized) struct WebSocketTests {
    private func client(_ port: Int) throws -> WebSocketClient {
        let address = try #require(HomeAssistantAddress(url: "http://127.0.0.1:\(port)"))
        return WebSocketClient(address, authorityFile: nil)
    }

    private func ask(_ text: String, _ server: SocketServer) async throws -> String {
        try await ask(text, at: server.port)
    }

    private func ask(_ text: String, at port: Int) async throws -> String {
        try await client(port).withConnection { stream in
            try await stream.send(Array(text.utf8))
            return String(decoding: try await stream.receive(), as: UTF8.self)
        }
    }

    @Test func `a message comes whole, however it is split, and a ping is answered`() async throws {
        let long = String(repeating: "x", count: 3 << 20)
        let server = try await SocketServer { text in
            switch text {
            case "": []
            case "begin": [WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer(string: "now"))]
            case "pong:now":
                [
                    .text(long, isLast: false), .text("y", isLast: false, opcode: .continuation),
                    .text("z", opcode: .continuation),
                ]
            default: []
            }
        }
        #expect(try await ask("begin", server) == long + "yz")
        try await server.channel.close()
    }

    @Test func `a file of authorities that cannot be used is named when it connects`() async throws {
        let address = try #require(HomeAssistantAddress(url: "https://127.0.0.1:1"))
        let client = WebSocketClient(address, authorityFile: "/nowhere/ca.pem")
        await #expect(throws: HomeAssistantError.offline("/nowhere/ca.pem has no certificate that can be read")) {
            try await client.withConnection { _ in }
        }
    }

    @Test func `a message that comes with the handshake is not lost`() async throws {
        let server = try await SocketServer { text in text.isEmpty ? [.text("hello")] : [] }
        // Whether both come in one packet is chance.
        for _ in 0..<200 {
            try await client(server.port).withConnection { stream in
                let message = try await stream.receive()
                #expect(message == Array("hello".utf8))
            }
        }
        try await server.channel.close()
    }

    @Test func `a message beyond the limit ends the connection`() async throws {
        let server = try await SocketServer { text in
            // Only its length is sent: the client must not wait for the rest.
            text.isEmpty ? [] : [.text(String(repeating: "x", count: (16 << 20) + 1))]
        }
        await #expect(throws: HomeAssistantError.self) { try await ask("begin", server) }
        try await server.channel.close()
    }

    @Test(.timeLimit(.minutes(1))) func `a server that sends unasked is left`() async throws {
        let server = try await SocketServer { _ in (0...64).map { .text("\($0)") } }
        try await client(server.port).withConnection { stream in
            // Nothing is read before: a message that is read at once makes room for another.
            try await server.isLeft.wait()
            await #expect(throws: HomeAssistantError.self) {
                while true { _ = try await stream.receive() }
            }
        }
        try await server.channel.close()
    }

    @Test(.timeLimit(.minutes(1))) func `a server is left whose unasked messages are too much together`() async throws {
        let long = String(repeating: "x", count: (16 << 20) - 1)
        // Two of the longest fit, and two bytes more.
        let server = try await SocketServer { text in text.isEmpty ? [.text(long), .text(long), .text("yyy")] : [] }
        try await client(server.port).withConnection { stream in
            try await server.isLeft.wait()
            for _ in 0..<2 {
                let message = try await stream.receive()
                #expect(message.count == (16 << 20) - 1)
            }
            await #expect(throws: HomeAssistantError.offline("it sends what the gateway did not ask for")) {
                _ = try await stream.receive()
            }
        }
        try await server.channel.close()
    }

    @Test func `a server that closes, refuses or is not there is offline`() async throws {
        let closing = try await SocketServer { text in
            text.isEmpty ? [] : [WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer())]
        }
        await #expect(throws: HomeAssistantError.offline("it closed the connection")) {
            try await ask("begin", closing)
        }
        let refusing = try await SocketServer(takes: false) { _ in [] }
        await #expect(throws: HomeAssistantError.self) { try await ask("begin", refusing) }
        let port = closing.port
        try await closing.channel.close()
        try await refusing.channel.close()
        await #expect(throws: HomeAssistantError.self) { try await ask("begin", at: port) }
    }

    @Test(.timeLimit(.minutes(1))) func `the client's thread answers while a server is silent`() async throws {
        let server = try await SocketServer { _ in [] }
        try await client(server.port).withConnection { _ in await WebSocketClient.answer() }
        try await server.channel.close()
    }

    /// Runs a body with an open connection, and cancels it once it has begun.
    private func cancelled(
        _ server: SocketServer, _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        let client = try client(server.port)
        let (opened, open) = AsyncStream<Void>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await client.withConnection { stream in
                    open.yield()
                    try await body(stream)
                }
            }
            for await _ in opened { break }
            group.cancelAll()
        }
        try await server.channel.close()
    }

    @Test(.timeLimit(.minutes(1))) func `a cancelled task does not wait for a server that is silent`() async throws {
        try await cancelled(try await SocketServer { _ in [] }) { _ = try await $0.receive() }
    }

    @Test(.timeLimit(.minutes(1))) func `a cancelled task does not wait for a server that reads nothing`() async throws
    {
        // More than all buffers on the way hold.
        let message = [UInt8](repeating: 120, count: 32 << 20)
        try await cancelled(try await SocketServer(reads: false) { _ in [] }) { try await $0.send(message) }
    }
}
