import Foundation
import GatewayKit
import GatewayTesting
import Glibc
import TestSupport
import Testing

@testable import Exec

/// Programs that want more than they may have. The gateway is this process, which must survive them.
@Suite(.timeLimit(.minutes(1)))
struct ExecLimitTests {
    /// A user without any process, to count from nothing; root is not limited.
    private static let nobody = 64_999

    /// Runs a program to its end. Returns what it wrote, its error output, and how the link broke.
    private func run(
        _ command: [String], _ limits: [(String, String)], original: Int? = nil
    ) async throws -> (output: String, log: [String], error: LinkError?) {
        let log = LogRecorder()
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        var error: LinkError?
        do {
            var started = try transport(command, limits: limits)
            started.program.originalDescriptors = original
            try await started.withBytes(log: log) { link in
                text.yield(try await link.readAll())
                throw LinkError(.broken, "The program has closed its output.")
            }
        } catch let thrown as LinkError { error = thrown }
        text.finish()
        var output = ""
        for await text in texts { output += text }
        return (output, log.entries.map(\.message), error)
    }

    private func python(_ script: String) -> [String] { ["python3", "-c", script] }

    @Test func `a program that takes too much memory fails, and the error names its limits`() async throws {
        let script = "import sys\nprint('small', flush=True)\nx = bytearray(256 << 20)\nprint('large')"
        #expect(try await run(python(script), []).output == "small\nlarge\n")
        let limited = try await run(python(script), [("memory", "64MiB"), ("descriptors", "32")])
        #expect(limited.output == "small\n")
        #expect(limited.log.contains("MemoryError"))
        #expect(
            limited.error?.message == "The program python3 exited with status 1. Its limits are 64MiB of memory, "
                + "32 descriptors; the log has what it said.")
    }

    @Test func `a program gets the soft limit of descriptors that the gateway was started with`() async throws {
        let script = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
        #expect(try await run(python(script), [], original: 777).output == "777\n")
        #expect(try await run(python(script), [("descriptors", "32")], original: 777).output == "32\n")
        #expect(try await run(["/nowhere/program"], [], original: 777).error?.code == .unreachable)
    }

    @Test func `a program that opens too many files fails`() async throws {
        let script = "f = []\nfor i in range(100): f.append(open('/dev/null'))\nprint(len(f))"
        #expect(try await run(python(script), []).output == "100\n")
        let limited = try await run(python(script), [("descriptors", "32")])
        #expect(limited.output == "")
        #expect(limited.log.contains { $0.contains("Too many open files") })
        #expect(limited.error?.message.hasPrefix("The program python3 exited with status 1.") == true)
    }

    @Test func `a program that forks too often fails, and its children end with it`() async throws {
        let script = "i=0; while [ $i -lt 40 ]; do sleep 1000 >&- & i=$((i + 1)); done"
        // Root is not limited, so a root's test changes the user after the limit is set.
        let prefix =
            getuid() == 0
            ? ["setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", "--"] : []
        let running = getuid() == 0 ? 0 : ProgramLimits.running(of: getuid())
        let limited = try await run(prefix + ["/bin/sh", "-c", script], [("processes", "\(running + 20)")])
        #expect(limited.log.contains { $0.contains("fork") }, "\(limited.log)")
        #expect(limited.error?.message.contains("exited with status") == true)
        #expect(limited.error?.message.contains("\(running + 20) processes of its user") == true)
        if getuid() == 0 {
            while ProgramLimits.running(of: uid_t(Self.nobody)) > 0, !Task.isCancelled { await Task.yield() }
        }
    }

    @Test func `the limits are those of the program and its children, and not the gateway's`() async throws {
        let before = ownLimits()
        let found = try await run(
            ["/bin/sh", "-c", "sh -c 'cat /proc/self/limits'"],
            [("memory", "64MiB"), ("descriptors", "40"), ("processes", "5000")])
        func row(_ name: String) -> [String] {
            found.output.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
                .split(separator: " ").prefix(2).map(String.init) ?? []
        }
        #expect(row("Max data size") == ["67108864", "67108864"])
        #expect(row("Max open files") == ["40", "40"])
        #expect(row("Max processes") == ["5000", "5000"])
        #expect(ownLimits() == before)
    }

    private func ownLimits() -> String? { try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8) }

    @Test func `a limit above the gateway's own stays at that one`() throws {
        var own = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &own) == 0)
        let most = try #require(Int(exactly: own.rlim_max))
        let limits = ProgramLimits(descriptors: most + 1)
        #expect(limits.options == ["--nofile=\(most)"])
    }

    @Test func `a program with limits ends, and is found or not, as one without`() async throws {
        let limits = [("descriptors", "64")]
        try await transport(["cat"], limits: limits).withBytes { link in
            try await link.write(Array("echo".utf8))
            #expect(try await link.read(atMost: 10) == Array("echo".utf8))
        }
        for (command, message) in [
            (["/no/such/program"], "The program /no/such/program does not exist or may not be run."),
            (["no-such-program"], "The program no-such-program is not found in /"),
            (["/etc/passwd"], "The program /etc/passwd does not exist or may not be run."),
            (["/etc"], "The program /etc does not exist or may not be run."),
        ] {
            let error = try await run(command, limits).error
            #expect(error?.code == .unreachable)
            #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `says that a limit of processes does nothing for root, or is too low for its user`() {
        let limits = ProgramLimits(processes: 16)
        #expect(limits.doubt(user: 0, running: 0)?.contains("as root") == true)
        #expect(limits.doubt(user: 1000, running: 16)?.contains("already has 16") == true)
        #expect(limits.doubt(user: 1000, running: 15) == nil)
        #expect(ProgramLimits(memory: 64 << 20).doubt(user: 0, running: 99) == nil)
        // At least this process and the thread that counts.
        #expect(ProgramLimits.running(of: getuid()) > 1)
    }
}
