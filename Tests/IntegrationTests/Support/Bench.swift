import Concurrency
import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// The environment of a test of the whole gateway: a folder, a real broker, an independent subscriber, and programs.
struct Bench: Sendable {
    /// The limit of every wait, generous for a busy machine.
    static let timeout = Duration.seconds(90)

    let folder: String
    let server: MosquittoServer
    let subscriber: Subscriber
    let programs: Programs
    let account: MosquittoAccount?
    private let gateways = Recorder<ChildProgram>()

    init(
        folder: String, server: MosquittoServer, subscriber: Subscriber, programs: Programs, account: MosquittoAccount?
    ) {
        self.folder = folder
        self.server = server
        self.subscriber = subscriber
        self.programs = programs
        self.account = account
    }

    /// A file in the test's folder.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes the gateway's configuration. Devices are lines of YAML's flow style.
    func configure(
        _ devices: [String], url: String? = nil, mqtt: [String] = [], sync: String = "{first: all}",
        zone: String = "Europe/Berlin", plugins: String = "{}", web: String? = nil
    ) throws {
        let scheme = server.options.encryption == .none ? "mqtt" : "mqtts"
        let url = url ?? "\"\(scheme)://127.0.0.1:\(server.port)\""
        // What only MQTT 5 has is tested also with a library with which `auto` is 3.1.1: this broker is trusted.
        let version = mqtt.contains { $0.hasPrefix("protocol:") } ? [] : ["protocol: 5"]
        let text = """
            gateway: {id: home, timezone: \(zone)}
            mqtt: {\((["url: \(url)"] + version + mqtt).joined(separator: ", "))}
            store: {path: vitals.sqlite}
            home_assistant: {discovery: "off"}
            sync: \(sync)
            devices: [\(devices.joined(separator: ", "))]
            plugins: \(plugins)
            \(web.map { "web: \($0)" } ?? "")

            """
        try text.write(toFile: path("gateway.yaml"), atomically: true, encoding: .utf8)
    }

    /// Starts the gateway with the configuration from `configure`, and these options. With a limit, no file can exceed that many KiB, as
    /// on a full disk.
    func startGateway(_ options: [String] = [], fileLimit: Int? = nil) -> ChildProgram {
        // The shell counts in blocks of 512 bytes (POSIX); the trap makes a write fail instead of ending the program.
        if let fileLimit { return startGateway(through: "trap '' XFSZ; ulimit -f \(fileLimit * 2)") }
        let gateway = programs.start(Repository.gateway, ["run", "--config", path("gateway.yaml")] + options)
        gateways.append(gateway)
        return gateway
    }

    /// Starts the gateway in the process of a shell, after this command.
    func startGateway(through command: String) -> ChildProgram {
        let gateway = programs.start(
            "sh", ["-c", "\(command); exec \"$0\" \"$@\"", Repository.gateway, "run", "--config", path("gateway.yaml")])
        gateways.append(gateway)
        return gateway
    }

    /// Writes the configuration, starts the gateway, and waits until a synchronisation of a device has ended.
    @discardableResult
    func start(
        _ devices: [String], url: String? = nil, mqtt: [String] = [], sync: String = "{first: all}",
        zone: String = "Europe/Berlin", plugins: String = "{}", synced device: String
    ) async throws -> ChildProgram {
        try configure(devices, url: url, mqtt: mqtt, sync: sync, zone: zone, plugins: plugins)
        let gateway = startGateway()
        try await synced(device)
        return gateway
    }

    /// Ends a program with a signal, and waits until it is gone.
    func end(_ program: ChildProgram, by interruption: ChildProgram.Interruption) async throws {
        program.interrupt(interruption)
        try await program.end(within: Self.timeout)
    }

    /// The logs of all runs of the gateway, for a failed test.
    var log: String {
        gateways.elements.map { $0.events.elements.suffix(60).map(\.text).joined(separator: "\n") }
            .joined(separator: "\n--- the next run:\n")
    }
}

extension ChildProgram {
    /// Waits until a line of its output has this text.
    func says(_ text: String) async throws {
        try await events.wait(within: Bench.timeout) { events in events.contains { $0.text.contains(text) } }
    }
}

/// Limits concurrent tests: each runs four programs or more on the same processors.
private let places = Places(6)

/// Runs `body` on its own bench, and ends and removes everything afterwards.
/// - Parameter filter: the messages that the subscriber sees.
func withBench(
    _ options: MosquittoOptions = MosquittoOptions(isPersistent: true), as account: MosquittoAccount? = nil,
    watching filter: String = "#",
    _ body: (Bench) async throws -> Void
) async throws {
    try await places.one {
        let url = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        try await withMosquitto(options) { server in
            try await server.withSubscriber(filter, as: account, session: "witness") { subscriber in
                try await withPrograms { programs in
                    let bench = Bench(
                        folder: url.path(percentEncoded: false), server: server, subscriber: subscriber,
                        programs: programs, account: account)
                    do { try await body(bench) } catch {
                        Issue.record("The gateway's log:\n\(bench.log)")
                        throw error
                    }
                }
            }
        }
    }
}

/// Lets a limited number in at a time.
private actor Places {
    private var free: Int
    private var waiting: [Promise<Void>] = []

    init(_ count: Int) { free = count }

    nonisolated func one(_ body: () async throws -> Void) async throws {
        await enter()
        do { try await body() } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        let turn = Promise<Void>()
        waiting.append(turn)
        await turn.waitUncancelled()
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().fulfil(()) }
    }
}
