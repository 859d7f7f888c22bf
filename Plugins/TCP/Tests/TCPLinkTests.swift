import GatewayKit
import NIOCore
import NIOPosix
import Testing

@testable import TCP

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite(.timeLimit(.minutes(1)))
struct TCPLinkTests {
    @Test func `reads what was sent, no more than asked for, and ends with an empty array`() async throws {
        try await withListener { inbound, outbound in
            try await outbound.write(ByteBuffer(string: "hello, gateway"))
            try await outbound.finish(andAwait: inbound)
        } _: { transport in
            try await transport.withBytes { link in
                var received: [UInt8] = []
                while true {
                    let bytes = try await link.read(atMost: 5)
                    #expect(bytes.count <= 5)
                    if bytes.isEmpty { break }
                    received += bytes
                }
                #expect(String(decoding: received, as: UTF8.self) == "hello, gateway")
                #expect(try await link.read(atMost: 5) == [])
            }
        }
    }

    @Test func `carries a hundred thousand small lines without losing one`() async throws {
        let count = 100_000
        try await withListener { inbound, outbound in
            for first in stride(from: 0, to: count, by: 100) {
                try await outbound.write(ByteBuffer(string: (first..<first + 100).map { "\($0)\n" }.joined()))
            }
            try await outbound.finish(andAwait: inbound)
        } _: { transport in
            try await transport.withBytes { link in
                var received: [UInt8] = []
                while case let bytes = try await link.read(atMost: 65_536), !bytes.isEmpty { received += bytes }
                let lines = received.split(separator: UInt8(ascii: "\n"))
                #expect(lines.count == count)
                #expect(lines.last.map { String(decoding: $0, as: UTF8.self) } == "\(count - 1)")
            }
        }
    }

    @Test func `holds a device back that sends faster than it is read`() async throws {
        let block = ByteBuffer(repeating: 7, count: 64 * 1024)
        let count = 512
        // A full inbox, four receive buffers, and the system's own buffer.
        let limit = ReceiveBuffer.capacity + 4 * ReceiveBuffer.greatestBuffer + 2 * ReceiveBuffer.systemBuffer
        try await withListener { inbound, outbound in
            for _ in 0..<count { try await outbound.write(block) }
            try await outbound.finish(andAwait: inbound)
        } _: { transport in
            let link = try await transport.connect()
            // Without flow control the level would grow to 32 MiB, and receiving would never pause.
            while !link.inbox.level.isPaused { await Task.yield() }
            #expect(link.inbox.level.bytes <= limit)
            var total = 0
            while case let bytes = try await link.read(atMost: .max), !bytes.isEmpty {
                #expect(bytes.count <= limit)
                total += bytes.count
            }
            #expect(total == count * block.readableBytes)
            await link.close()
        }
    }

    @Test func `does not mix the bytes of several writers`() async throws {
        let size = 100_000
        let (received, receipt) = AsyncStream.makeStream(of: [UInt8].self)
        try await withListener { inbound, _ in
            var bytes: [UInt8] = []
            for try await buffer in inbound { bytes += buffer.readableBytesView }
            receipt.yield(bytes)
        } _: { transport in
            try await transport.withBytes { link in
                try await withThrowingTaskGroup { group in
                    for writer in UInt8(0)..<8 {
                        group.addTask {
                            for _ in 0..<4 { try await link.write(Array(repeating: writer, count: size)) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let bytes = await received.first { _ in true } ?? []
            #expect(bytes.count == 8 * 4 * size)
            for start in stride(from: 0, to: bytes.count, by: size) {
                #expect(bytes[start..<start + size].allSatisfy { $0 == bytes[start] })
            }
        }
    }

    @Test func `a cancelled read leaves the bytes for the next one`() async throws {
        let (go, start) = AsyncStream.makeStream(of: Void.self)
        try await withListener { _, outbound in
            for await _ in go { break }
            try await outbound.write(ByteBuffer(string: "late"))
        } _: { transport in
            try await transport.withBytes { link in
                await withThrowingTaskGroup { group in
                    group.addTask { _ = try await link.read(atMost: 10) }
                    group.cancelAll()
                    await #expect(throws: LinkError.self) { try await group.next() }
                }
                start.yield()
                let late = try await link.read(atMost: 10)
                #expect(late == Array("late".utf8))
            }
        }
    }

    @Test func `cancelling whoever has the link closes it at once`() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        try await withListener { inbound, _ in
            for try await _ in inbound {}
            end.yield(true)
        } _: { transport in
            let (connected, connect) = AsyncStream.makeStream(of: Void.self)
            await withThrowingTaskGroup { group in
                group.addTask {
                    try await transport.withBytes { link in
                        connect.yield()
                        _ = try await link.read(atMost: 1)
                    }
                }
                for await _ in connected { break }
                group.cancelAll()
                await #expect(throws: LinkError.closed(Endpoint(host: "127.0.0.1", port: transport.port))) {
                    try await group.next()
                }
            }
            #expect(await ended.first { _ in true } == true)
        }
    }

    @Test func `cancelling a write to a device that does not read ends it`() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        try await withListener { _, _ in
            for await _ in released { break }
        } _: { transport in
            let link = try await transport.connect()
            await withThrowingTaskGroup { group in
                group.addTask { try await link.write(Array(repeating: 0, count: 64 << 20)) }
                // Once the channel refuses more, the system's buffers are full.
                while link.channel.isWritable { await Task.yield() }
                group.cancelAll()
                await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
            }
            release.yield()
            await #expect(throws: LinkError.self) { try await link.write([1]) }
            await link.close()
        }
    }

    @Test func `says that the connection broke when the device resets it`() async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeSucceededFuture(channel)
            }
        try await listener.executeThenClose { connections in
            let link = try await transport(port: listener.channel.localAddress?.port ?? 0).connect()
            for try await peer in connections {
                // A linger time of zero makes the system send a reset instead of an orderly end.
                let options = try (peer as? any SocketOptionProvider).orThrow()
                try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                try await peer.close().get()
                break
            }
            await #expect { try await link.read(atMost: 1) } throws: { ($0 as? LinkError)?.code == .broken }
            await link.close()
        }
    }
}

extension TCPTransport {
    fileprivate var port: Int {
        guard case .connect(let connector) = way else { return 0 }
        return connector.endpoint.port
    }
}
