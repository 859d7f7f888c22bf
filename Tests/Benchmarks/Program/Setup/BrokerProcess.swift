import Foundation
import Glibc

/// The benchmark's own mosquitto, which drops nothing and keeps sessions over a restart.
final class BrokerProcess {
    let port: UInt16
    private let folder: URL
    private var child: ChildProcess?

    init(folder: URL) throws {
        // If started by root, mosquitto would become a user without write access to the folder; otherwise `user` has no
        // effect.
        self.folder = folder
        port = try Loopback.freePort()
        try """
        listener \(port) 127.0.0.1
        allow_anonymous true
        persistence true
        persistence_location \(folder.path)/
        autosave_interval 0
        set_tcp_nodelay true
        max_queued_messages 0
        max_inflight_messages 0
        log_type error
        user \(NSUserName())

        """.write(to: folder.appending(path: "mosquitto.conf"), atomically: true, encoding: .utf8)
        try start()
    }

    var pid: pid_t { child?.pid ?? 0 }

    /// Starts it, and waits until it listens.
    func start() throws {
        let path = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/usr/bin/mosquitto"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else { throw BenchError("mosquitto is not installed.") }
        let log = folder.appending(path: "mosquitto.log")
        let child = try ChildProcess(
            "mosquitto", path, ["-c", folder.appending(path: "mosquitto.conf").path], log: log)
        self.child = child
        let isListening = Instant.wait(upTo: 10) {
            guard let socket = try? Loopback.connect(to: port) else { return false }
            close(socket)
            return true
        }
        guard isListening else { throw BenchError("mosquitto does not start; see \(log.path).") }
    }

    /// Ends it as a system shutdown does: it keeps the sessions in its file.
    func stop() {
        child?.end()
        child = nil
    }
}
