import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing

@testable import Exec

@Suite(.timeLimit(.minutes(1)))
struct ExecLinkTests {
    @Test func `speaks with a program over its standard input and output`() async throws {
        try await transport(["cat"]).withBytes { link in
            try await link.write(Array("hello, ".utf8))
            try await link.write(Array("program".utf8))
            var received: [UInt8] = []
            while received.count < 14 {
                let bytes = try await link.read(atMost: 5)
                #expect((1...5).contains(bytes.count))
                received += bytes
            }
            #expect(String(decoding: received, as: UTF8.self) == "hello, program")
        }
    }

    @Test func `a program that ends by itself is read to its end`() async throws {
        let log = LogRecorder()
        try await shell("echo one; echo two").withBytes(log: log) { link in
            let all = try await link.readAll()
            #expect(all == "one\ntwo\n")
            let next = try await link.read(atMost: 1)
            #expect(next == [])
        }
        #expect(log.entries.map(\.level) == [.debug])
        #expect(log.entries.first?.metadata["exec.status"] == "exited with status 0")
    }

    @Test(arguments: [("exit 3", "exited with status 3"), ("kill -SEGV $$", "was ended by signal 11")])
    func `says how a program failed`(script: String, status: String) async throws {
        let log = LogRecorder()
        await #expect(throws: LinkError(.broken, "The program /bin/sh \(status).")) {
            try await shell("echo last; \(script)").withBytes(log: log) { link in
                let all = try await link.readAll()
                #expect(all == "last\n")
                throw DeviceError(.disconnected, "The device is gone.")
            }
        }
        #expect(log.entries.map(\.level) == [.warning])
        #expect(log.entries.first?.metadata["exec.status"] == status)
    }

    @Test func `passes on other errors although the program failed`() async throws {
        await #expect(throws: DeviceError(.failure, "It answered nonsense.")) {
            try await shell("exit 3").withBytes { link in
                let all = try await link.readAll()
                #expect(all == "")
                throw DeviceError(.failure, "It answered nonsense.")
            }
        }
    }

    @Test func `a program that wrote its last words into a pipe that a child of it keeps open is at its end`()
        async throws
    {
        let (children, child) = AsyncStream.makeStream(of: Int32.self)
        try await shell("sleep 1000 & echo $!; exit 0").withBytes { link in
            child.yield(try await link.readNumbers(1)[0])
            let next = try await link.read(atMost: 10)
            #expect(next == [])
        }
        for await identifier in children {
            await Process(identifier: identifier).waitUntilDead()
            break
        }
    }

    @Test func `writing to a program that does not read any more is an error and not the gateway's end`() async throws {
        await #expect(throws: LinkError(.broken, "The program /bin/sh no longer reads its standard input.")) {
            try await shell("exec <&-; echo closed; sleep 1000").withBytes { link in
                let next = try await link.read(atMost: 7)
                #expect(next == Array("closed\n".utf8))
                // Another program that is starting may hold a copy of the pipe for a moment.
                while true { try await link.write([1, 2, 3]) }
            }
        }
    }

    @Test func `does not mix the bytes of several writers`() async throws {
        let size = 200_000
        try await transport(["cat"]).withBytes { link in
            try await withThrowingTaskGroup { group in
                for writer in UInt8(0)..<4 {
                    group.addTask { for _ in 0..<4 { try await link.write(Array(repeating: writer, count: size)) } }
                }
                var received: [UInt8] = []
                while received.count < 16 * size { received += try await link.read(atMost: 65_536) }
                for start in stride(from: 0, to: received.count, by: size) {
                    #expect(received[start..<start + size].allSatisfy { $0 == received[start] })
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `an endless stream is held back`() async throws {
        try await shell("echo $$; exec yes").withBytes { link in
            let process = Process(identifier: try await link.readNumbers(1)[0])
            // It sleeps only when its pipe is full.
            while process.state != "S", !Task.isCancelled { await Task.yield() }
            let written = process.bytesWritten ?? .max
            #expect(written <= 4 * 65_536)
            var total = 0
            while total < 16 << 20 { total += try await link.read(atMost: 65_536).count }
        }
    }

    @Test func `a cancelled read loses nothing`() async throws {
        try await transport(["cat"]).withBytes { link in
            await withThrowingTaskGroup { group in
                group.addTask { _ = try await link.read(atMost: 10) }
                group.cancelAll()
                await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
            }
            try await link.write(Array("still here".utf8))
            let bytes = try await link.read(atMost: 10)
            #expect(bytes == Array("still here".utf8))
        }
    }

    @Test func `a link is of no use once it is closed`() async throws {
        let (links, kept) = AsyncStream.makeStream(of: (any ByteLink).self)
        try await transport(["cat"]).withBytes { link in kept.yield(link) }
        for await link in links {
            await #expect { try await link.read(atMost: 1) } throws: { ($0 as? LinkError)?.code == .cancelled }
            await #expect { try await link.write([1]) } throws: { ($0 as? LinkError)?.code == .cancelled }
            break
        }
    }
}
