import Foundation
import Glibc

/// The real gateway, started as by its users.
final class GatewayProcess {
    private let program: String
    private let folder: URL
    private(set) var child: ChildProcess?

    init(program: String, folder: URL) {
        self.program = program
        self.folder = folder
    }

    var pid: pid_t { child?.pid ?? 0 }

    /// Starts it; returns the moment before the start, on the steady clock.
    @discardableResult
    func start() throws -> Int64 {
        let began = Instant.steady
        child = try ChildProcess(
            "vitals2mqtt", program, ["run", "--config", folder.appending(path: "gateway.yaml").path], log: log)
        return began
    }

    func stop() {
        child?.end()
        child = nil
    }

    /// Ends it. Returns the bytes that it had written to disks shortly before its end.
    func stopCounting() throws -> Int64 {
        var written = try use.written
        if let child { Glibc.kill(child.pid, SIGTERM) }
        // Its end takes a hundred milliseconds or more; its figures are gone with it.
        _ = Instant.wait(upTo: 10) {
            if let now = try? use.written { written = max(written, now) }
            return child?.isRunning != true
        }
        stop()
        return written
    }

    /// Kills it without warning.
    func kill() {
        child?.end(SIGKILL)
        child = nil
    }

    /// - Throws: if the process has ended, with the end of its log.
    func check() throws {
        guard let child, !child.isRunning else { return }
        throw BenchError("The gateway has ended by itself. Its log ends with:\n\(logEnd)")
    }

    var use: ProcessUse { get throws { try ProcessUse(of: pid) } }

    private var log: URL { folder.appending(path: "gateway.log") }

    private var logEnd: String {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(15).joined(separator: "\n")
    }
}
