import Foundation
package import MQTT
import Synchronization

/// A real mosquitto on a free port of the loopback interface, for as long as a test wants.
package final class MosquittoServer: Sendable {
    /// Debian keeps it where the search path of ordinary users does not look.
    private static let program =
        ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"]
        .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "mosquitto"
    /// How long starting or ending may take on a busy machine.
    private static let limit = Duration.seconds(20)
    /// How many ports are tried; another program takes one between asking and listening only rarely.
    private static let portAttempts = 8

    /// Where its files are; removed at the end.
    package let directory: String
    /// The certificates, when the options ask for encryption.
    package let certificates: Certificates?
    /// How it is set up.
    package let options: MosquittoOptions
    private let state: Mutex<(port: Int, run: ChildProgram?)>
    private let runs: AsyncStream<ChildProgram>.Continuation

    init(
        _ options: MosquittoOptions, directory: String, certificates: Certificates?,
        runs: AsyncStream<ChildProgram>.Continuation
    ) throws {
        self.options = options
        self.directory = directory
        self.certificates = certificates
        self.runs = runs
        state = Mutex((try freePort(), nil))
    }

    /// The port it listens on; the same over restarts.
    package var port: Int { state.withLock { $0.port } }

    /// Where clients find it.
    package var server: BrokerServer {
        BrokerServer(host: "127.0.0.1", port: port, isTLS: options.encryption != .none)
    }

    /// What it logged since its last start.
    package var log: [String] { state.withLock { $0.run }?.events.elements.map(\.text) ?? [] }

    /// Starts it, and returns when it listens.
    package func start() async throws {
        let run = try launch()
        let events = try await run.events.wait(within: Self.limit) { events in
            events.contains { $0.isEnd || $0.text.hasSuffix(" running") }
        }
        guard !events.contains(where: \.isEnd) else {
            throw ProgramError(description: "mosquitto: " + events.map(\.text).joined(separator: "\n"))
        }
    }

    /// Ends it in good order: clients are told, what is to be kept is written.
    package func stop() async throws { try await end(.end) }

    /// Ends it at once, as a crash would.
    package func kill() async throws { try await end(.kill) }

    /// Makes it stop answering, as a hanging machine would: connections stay open.
    package func freeze() { state.withLock { $0.run }?.interrupt(.freeze) }

    /// Lets it go on after `freeze`.
    package func thaw() { state.withLock { $0.run }?.interrupt(.thaw) }

    /// Ends it in good order, and starts it on the same port.
    package func restart() async throws {
        try await stop()
        try await start()
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
        runs.yield(run)
        return run
    }

    private func end(_ interruption: ChildProgram.Interruption) async throws {
        guard let run = state.withLock({ $0.run }) else { return }
        run.interrupt(interruption)
        try await run.end(within: Self.limit)
    }
}

/// Runs `body` beside a real mosquitto, and ends it afterwards.
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
    let (stream, runs) = AsyncStream.makeStream(of: ChildProgram.self)
    let server = try MosquittoServer(options, directory: directory, certificates: certificates, runs: runs)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await run in stream { await run.run() } }
        defer {
            runs.finish()
            group.cancelAll()
        }
        try await server.startOnFreePort()
        try await body(server)
    }
}

extension MosquittoOptions {
    /// Writes the files of passwords and access rules.
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
