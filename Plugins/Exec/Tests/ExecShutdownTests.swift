import GatewayKit
import GatewayTesting
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Exec

/// Checks that no process started by a program is left behind.
@Suite(.timeLimit(.minutes(1)))
struct ExecShutdownTests {
    @Test func `closing the standard input lets a program end by itself`() async throws {
        let log = LogRecorder()
        var program = try shell("cat >/dev/null; echo 'I! disconnect' >&2; exit 0")
        program.grace = .seconds(30)
        try await program.withBytes(log: log) { _ in }
        #expect(log.entries.map(\.message) == ["disconnect", "The program has ended."])
        #expect(log.entries.last?.metadata["exec.status"] == "exited with status 0")
    }

    @Test func `a program that stays is asked by SIGTERM`() async throws {
        let log = LogRecorder()
        let script = "trap 'echo \"I! asked\" >&2; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
        var program = try shell(script)
        // It passes once in vain, and is then all that a busy machine has for the answer.
        program.grace = .seconds(5)
        try await program.withBytes(log: log) { link in _ = try await link.read(atMost: 6) }
        #expect(log.entries.contains { $0.message == "asked" })
        #expect(log.entries.last?.message == "The program has ended.")
    }

    @Test func `a program that ignores SIGTERM is killed with all that it started`() async throws {
        let log = LogRecorder()
        let processes = Mutex<[Int32]>([])
        let stubborn = "trap '' TERM; echo $$; while :; do sleep 0.05; done"
        try await shell("sh -c \"\(stubborn.replacing("$$", with: "\\$\\$"))\" & \(stubborn)").withBytes(log: log) {
            link in
            let identifiers = try await link.readNumbers(2)
            processes.withLock { $0 = identifiers }
        }
        #expect(processes.withLock { $0.count } == 2)
        for identifier in processes.withLock({ $0 }) { await Process(identifier: identifier).waitUntilDead() }
        #expect(log.entries.last?.metadata["exec.status"] == "was ended by signal 9")
        #expect(log.entries.last?.level == .debug)
    }

    @Test func `a program that ends when asked leaves no child behind`() async throws {
        let processes = Mutex<[Int32]>([])
        try await shell("sh -c 'trap \"\" TERM; echo $$; while :; do sleep 0.05; done' & echo $$; cat >/dev/null")
            .withBytes { link in
                let identifiers = try await link.readNumbers(2)
                processes.withLock { $0 = identifiers }
            }
        #expect(processes.withLock { $0.count } == 2)
        for identifier in processes.withLock({ $0 }) { await Process(identifier: identifier).waitUntilDead() }
    }

    @Test func `is collected by the system when the link is closed`() async throws {
        let process = Mutex<Int32>(0)
        try await shell("echo $$; cat >/dev/null").withBytes { link in
            let identifier = try await link.readNumbers(1)[0]
            process.withLock { $0 = identifier }
        }
        #expect(Process(identifier: process.withLock { $0 }).state == nil)
    }

    @Test func `cancelling whoever has the link ends the program`() async throws {
        let (started, start) = AsyncStream.makeStream(of: Int32.self)
        await withThrowingTaskGroup { group in
            group.addTask {
                try await shell("echo $$; trap '' TERM; while :; do sleep 0.05; done").withBytes { link in
                    start.yield(try await link.readNumbers(1)[0])
                    _ = try await link.read(atMost: 1)
                }
            }
            for await identifier in started {
                group.cancelAll()
                await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
                #expect(Process(identifier: identifier).state == nil)
                break
            }
        }
    }

    @Test func `cancelling a write to a program that does not read ends it`() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        await withThrowingTaskGroup { group in
            group.addTask {
                try await shell("echo; sleep 1000").withBytes { link in
                    _ = try await link.read(atMost: 1)
                    start.yield()
                    try await link.write(Array(repeating: 0, count: 1 << 20))
                }
            }
            for await _ in started { break }
            group.cancelAll()
            await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
        }
    }
}
