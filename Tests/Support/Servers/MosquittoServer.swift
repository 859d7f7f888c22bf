import Concurrency
import Foundation
package import MQTT
import Synchronization

/// A real mosquitto on a free port of the loopback interface.
package final class MosquittoServer: Sendable {
    /// Debian installs it in a folder outside ordinary users' search path.
    private static let program =
        ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"]
        .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "mosquitto"
    /// The time limit for starting or ending, on a busy machine.
    private static let limit = Duration.seconds(20)
    /// How many ports to try: another program rarely takes one before the server listens.
    private static let portAttempts = 8

    /// The folder of its files; removed at the end.
    package let directory: String
    /// The certificates, if the options require encryption.
    package let certificates: Certificates?
    /// Its options.
    package let options: MosquittoOptions
    private let state: Mutex<(port: Int, run: ChildProgram?)>
    private let runs: Mailbox<ChildProgram, Never>

    init(
        _ options: MosquittoOptions, directory: String, certificates: Certificates?,
        runs: Mailbox<ChildProgram, Never>
    ) throws {
        self.options = options
        self.directory = directory
        self.certificates = certificates
        self.runs = runs
        state = Mutex((try freePort(), nil))
    }

    /// Its port; the same after restarts.
    package var port: Int { state.withLock { $0.port } }

    /// Its address for clients.
    package var server: BrokerServer {
        BrokerServer(host: "127.0.0.1", port: port, isTLS: options.encryption != .none)
    }

    /// Its log since the last start.
    package var log: [String] { state.withLock { $0.run }?.events.elements.map(\.text) ?? [] }

    /// Starts it, and returns once it listens.
    package func start() async throws {
        let run = try launch()
        let events = try await run.events.wait(within: Self.limit) { events in
            events.contains { $0.isEnd || $0.text.hasSuffix(" running") }
        }
        guard !events.contains(where: \.isEnd) else {
            throw ProgramError(description: "mosquitto: " + events.map(\.text).joined(separator: "\n"))
        }
    }

    /// Shuts it down in an orderly way: it informs clients and writes its persistent data.
    package func stop() async throws { try await end(.end) }

    /// Kills it, like a crash.
    package func kill() async throws { try await end(.kill) }

    /// Suspends it, like a hanging machine: connections stay open.
    package func freeze() { state.withLock { $0.run }?.interrupt(.freeze) }

    /// Resumes it after `freeze`.
    package func thaw() { state.withLock { $0.run }?.interrupt(.thaw) }

    /// Shuts it down, and starts it again on the same port.
    package func restart() async throws {
        try await stop()
        try await start()
    }

    /// Replaces its access list, which the options must have, and returns once it has read the new one.
    package func allow(_ accessList: [String]) async throws {
        try accessList.joined(separator: "\n").appending("\n")
            .write(toFile: "\(directory)/access", atomically: true, encoding: .utf8)
        guard let run = state.withLock({ $0.run }) else { return }
        run.interrupt(.reload)
        try await run.events.wait(within: Self.limit) { $0.contains { $0.text.contains("Reloading config") } }
    }

    /// Starts it on the first free port.
    func startOnFreePort() async throws {
        for attempt in 1...Self.portAttempts {
            do {
                return try await start()
            } catch let error as ProgramError where error.description.contains("Address already in use") {
                guard attempt < Self.portAttempts else { throw error }
                try state.withLock { $0.port = try freePort() }
            }
        }
    }

    private func launch() throws -> ChildProgram {
        let file = "\(directory)/mosquitto.conf"
        try options.configuration(directory: directory, port: port, user: NSUserName())
            .write(toFile: file, atomically: true, encoding: .utf8)
        let run = ChildProgram(Self.program, ["-c", file])
        state.withLock { $0.run = run }
        _ = runs.offer(run)
        return run
    }

    private func end(_ interruption: ChildProgram.Interruption) async throws {
        guard let run = state.withLock({ $0.run }) else { return }
        run.interrupt(interruption)
        try await run.end(within: Self.limit)
    }
}

/// Runs `body` with a real mosquitto, and ends that afterwards.
package func withMosquitto(
    _ options: MosquittoOptions = MosquittoOptions(), _ body: (MosquittoServer) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "vitals2mqtt-mosquitto-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let directory = folder.path(percentEncoded: false).trimmingSuffix("/")
    let certificates = options.encryption == .none ? nil : try await Certificates.make(in: directory)
    try await options.writeAccess(to: directory)
    let runs = Mailbox<ChildProgram, Never>(capacity: .max)
    let server = try MosquittoServer(options, directory: directory, certificates: certificates, runs: runs)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            while case .elements(let started) = await runs.next() { for run in started { await run.run() } }
        }
        defer {
            runs.finish()
            group.cancelAll()
        }
        try await server.startOnFreePort()
        try await body(server)
    }
}

extension MosquittoOptions {
    /// Writes the password file and the access list.
    fileprivate func writeAccess(to directory: String) async throws {
        if !accessList.isEmpty {
            try accessList.joined(separator: "\n").appending("\n")
                .write(toFile: "\(directory)/access", atomically: true, encoding: .utf8)
        }
        guard !users.isEmpty else { return }
        try Data().write(to: URL(filePath: "\(directory)/passwords"))
        for (user, password) in users.sorted(by: { $0.key < $1.key }) {
            try await runProgram("mosquitto_passwd", ["-b", "\(directory)/passwords", user, password])
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
