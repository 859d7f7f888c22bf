import Foundation
import Gateway
import Glibc
import Store
import Subprocess
import SystemPackage
import TestSupport
import Testing
import Vitals

/// The program, which is in the folder of the test program.
let gatewayProgram = FilePath(
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "vitals2mqtt").path)

/// Runs the program to its end.
func runGateway(
    _ arguments: [String], in environment: Environment = .inherit
) async throws -> (status: String, output: String, errors: String) {
    let result = try await Subprocess.run(
        .path(gatewayProgram), arguments: Arguments(arguments), environment: environment,
        output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    return ("\(result.terminationStatus)", result.standardOutput, result.standardError)
}

/// The real program, started like a user would.
@Suite struct CommandLineTests {
    @Test(arguments: [
        (["--version"], 0), (["--help"], 0), (["plugins"], 0), (["plugins", "simulator"], 0),
        (["plugins", "colmi-ring"], 0), (["plugins", "mqtt"], 0), (["plugins", "none"], 64), (["config-reference"], 0),
        (["jump"], 64), (["run", "--config", "/nowhere/c.yaml"], 78), (["check-config", "c.yaml"], 64),
        (["dashboard", "c.yaml"], 64), (["dashboard", "--config", "/nowhere/c.yaml"], 78),
        (["check-config", "--config", "/nowhere/c.yaml"], 78), (["doctor", "--config", "/nowhere/c.yaml"], 1),
        (["health", "--config", "/nowhere/c.yaml"], 1), (["health", "--ready", "--config", "/nowhere/c.yaml"], 1),
        (["run", "--config", "x", "--log-level", "loud"], 64),
        (["demo", "--broker", "localhost"], 78), (["plugin", "check"], 64), (["plugin", "check", "--", "./a"], 1),
        (["plugin", "check", "--timeout", "0", "--", "true"], 64), (["plugin", "check", "--", "true"], 1),
        (["plugin", "check", "--option", "a", "--", "true"], 64),
        (["scan", "--seconds", "61"], 64), (["scan", "--config", "/nowhere/c.yaml"], 78), (["store"], 0),
        (["store", "info", "--store", "/nowhere/a"], 1),
        (["add", "--transport", "type"], 64), (["add", "--seconds", "0"], 64),
        (["add", "--driver", "simulator", "--option", "model=band"], 0),
        (["add", "--driver", "simulator", "--option", "model=hat"], 78), (["add", "--driver", "none"], 1),
        (["add", "--driver", "simulator", "--option", "model=band", "--option", "model=ring"], 78),
        (["add", "--replace", "--write"], 64), (["add", "--write", "--config", "/nowhere/c.yaml"], 78),
        (["web-password"], 1), (["web-password", "--write"], 64),
        (["remove"], 64), (["remove", "a", "--config", "/nowhere/c.yaml"], 78), (["remove", "../a"], 78),
        (["store", "check", "--store", "/nowhere/a"], 1), (["backup", "--store", "/nowhere/a", "/nowhere/b"], 1),
        (["restore", "--store", "/nowhere/a", "/nowhere/b"], 1),
        (["backup", "--config", "x", "--store", "y", "z"], 64),
        (["erase"], 64), (["erase", "--person", "a", "--device", "b"], 64),
        (["erase", "--person", "a", "--config", "/nowhere/c.yaml"], 78),
        (["backup", "--config", "/nowhere/c.yaml", "z"], 78),
        (["export", "--config", "/nowhere/c.yaml", "--format", "csv", "-"], 78),
        (["export", "--format", "xml", "-"], 64),
        (["export", "--format", "fhir", "-"], 64), (["export", "--format", "csv", "--from", "noon", "-"], 64),
    ])
    func `ends with the status that a service manager knows`(arguments: [String], status: Int) async throws {
        #expect(try await runGateway(arguments).status == "\(TerminationStatus.exited(Int32(status)))")
    }

    @Test func `checks a program over Vitals Link`() async throws {
        let example = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Plugins/Link/Examples/csv_heart_rate.py").standardizedFileURL.path
        let result = try await runGateway([
            "plugin", "check", "--listen", "0", "--option", "colour=red", "--", "python3", "-B", example,
        ])
        #expect(result.status == "\(TerminationStatus.exited(0))", "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("The program does what Vitals Link wants.\n"))
    }

    @Test func `a variable names the configuration of all commands, and --config another one`() async throws {
        let named = Environment.inherit.updating(["VITALS2MQTT_CONFIG": "/nowhere/named.yaml"])
        let none = Environment.inherit.updating(["VITALS2MQTT_CONFIG": ""])
        let commands = [
            ["check-config"], ["run"], ["dashboard"], ["store", "info"], ["scan"], ["backup", "/nowhere/b"],
        ]
        for command in commands {
            let byVariable = try await runGateway(command, in: named).errors
            #expect(byVariable.contains("/nowhere/named.yaml: The configuration file cannot be read"), "\(command)")
            let byOption = try await runGateway(command + ["--config", "/nowhere/other.yaml"], in: named).errors
            #expect(byOption.contains("/nowhere/other.yaml: The configuration file cannot be read"), "\(command)")
        }
        #expect(try await runGateway(["doctor"], in: named).output.contains("/nowhere/named.yaml"))
        let standard = "/etc/vitals2mqtt/vitals2mqtt.yaml"
        guard !FileManager.default.fileExists(atPath: standard) else { return }
        #expect(try await runGateway(["check-config"], in: none).errors.contains(standard))
    }

    @Test func `a plugin is found by its drivers and transports, and a wrong name gets a proposal`() async throws {
        let byDriver = try await runGateway(["plugins", "colmi-ring"]).output
        #expect(byDriver.hasPrefix("ColmiRing: "))
        let byTransport = try await runGateway(["plugins", "mqtt"]).output
        #expect(byTransport.hasPrefix("Phones: "))
        let wrong = try await runGateway(["plugins", "colmi"]).errors
        let proposal = "There is no plugin, driver or transport colmi. Did you mean colmi-ring or colmiring?"
        #expect(wrong.contains(proposal), "\(wrong)")
    }

    @Test func `shows a plugin with its sample`() async throws {
        let shown = try await runGateway(["plugins", "simulator"]).output
        #expect(shown.contains("driver: simulator (needs no transport)"))
        #expect(shown.contains("model: band"))
    }

    @Test func `exports samples beside a running gateway, to standard output or a file`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try SQLiteStore(
            path: "\(folder)/s.sqlite", now: Timestamp(seconds: 1_795_000_000), newIdentity: SampleID(high: 1, low: 2))
        let path = try write("store: {path: s.sqlite}\ndevices: [{id: band-1}]\n", to: "c.yaml", in: folder)
        let export = ["export", "--config", path, "--format", "ndjson"]
        let empty = try await runGateway(export + ["-"])
        #expect(empty.status == "\(TerminationStatus.exited(1))")
        #expect(empty.errors == "Nothing was exported.\n")
        let start = Timestamp(seconds: 1_795_000_000)
        let ingest = Ingest(
            device: try #require(DeviceID("band-1")),
            samples: [Sample(metric: .heartRate, start: start, reading: .value(61))], receivedAt: start
        ) { _ in IngestOutcome() }
        _ = try await store.ingest(ingest)
        let printed = try await runGateway(export + ["-"])
        #expect(printed.output.contains(#""metric":"heart_rate","unit":"bpm","id":"#), "\(printed)")
        #expect(printed.errors == "Standard output has 1 sample.\n")
        let written = try await runGateway(export + ["\(folder)/a.ndjson"])
        #expect(written.output == "\(folder)/a.ndjson has 1 sample.\n", "\(written)")
        let text = try String(contentsOfFile: "\(folder)/a.ndjson", encoding: .utf8)
        #expect(text == printed.output)
        try await store.close()
    }

    @Test func `copies a store, restores it and inspects it`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try SQLiteStore(
            path: "\(folder)/s.sqlite", now: Timestamp(seconds: 1_795_000_000), newIdentity: SampleID(high: 1, low: 2))
        _ = try await store.load(try #require(DeviceID("band-1")))
        // The file of a service's secret is gone while the service does not run.
        let configuration = "store: {path: s.sqlite}\nmqtt: {password: {file: /nowhere/secret}}\ndevices: []\n"
        let path = try write(configuration, to: "c.yaml", in: folder)
        let success = "\(TerminationStatus.exited(0))"
        #expect(try await runGateway(["backup", "--config", path, "\(folder)/copy"]).status == success)
        let refused = try await runGateway(["restore", "--config", path, "\(folder)/copy"])
        #expect(refused.errors.contains("Another gateway uses this store"))
        try await store.close()
        #expect(try await runGateway(["restore", "--config", path, "\(folder)/copy"]).status == success)
        let info = try await runGateway(["store", "info", "--config", path])
        #expect(info.output.contains("version   1"), "\(info)")
        #expect(!info.output.contains("\(SampleID(high: 1, low: 2))"))
        #expect(try await runGateway(["store", "check", "--config", path]).output == "\(folder)/s.sqlite is sound.\n")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can run a program as another user"))
    func `says which file beside the store another user has left there`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try write(
            "store: {path: s.sqlite}\nmqtt: {url: mqtt://h}\ndevices: [{id: a, driver: simulator}]\n", to: "c.yaml",
            in: folder)
        // The build's folder may be closed to other users.
        let program = "\(folder)/vitals2mqtt"
        try FileManager.default.copyItem(atPath: gatewayProgram.string, toPath: program)
        let user: uid_t = 65_534
        try #require(chown(folder, user, user) == 0 && chmod(folder, 0o755) == 0 && chown(path, user, user) == 0)
        func check() async throws -> String {
            try await Subprocess.run(
                .name("setpriv"),
                arguments: [
                    "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", program, "check-config",
                    "--config", path,
                ],
                input: .none, output: .discarded, error: .string(limit: 1 << 20)
            ).standardError
        }
        #expect(try await check() == "")
        _ = try write("", to: "s.sqlite.lock", in: folder)
        try #require(chmod("\(folder)/s.sqlite.lock", 0o600) == 0)
        #expect(
            try await check() == """
                \(path):1: store.path: \(folder)/s.sqlite.lock may not be read and written by this user (\(user)). Give it, and \
                all files beside it, to the user who runs the gateway: chown USER \(folder)/s.sqlite*

                """)
    }

    @Test func `runs without a broker, takes a changed file and ends when it is asked to`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let good = "mqtt: {url: \"mqtt://127.0.0.1:\(try freePort())\"}\ndevices: [{id: a, driver: simulator}]\n"
        let path = try write(good, to: "c.yaml", in: folder)
        let result = try await Subprocess.run(
            .path(gatewayProgram), arguments: ["run", "--config", path], input: .none, output: .discarded,
            error: .sequence
        ) { execution in
            var isAsked = false
            for try await line in execution.standardError.strings() {
                if line.contains("The broker is not connected.") {
                    try write(good + "log: {level: loud}\n", to: "c.yaml", in: folder)
                    try execution.send(signal: Signal(rawValue: SIGHUP))
                } else if line.contains("\(path):3: log.level:") {
                    isAsked = true
                    try execution.send(signal: .terminate)
                }
            }
            return isAsked
        }
        // A stop that takes longer than five seconds has another status.
        #expect("\(result.terminationStatus)" == "\(TerminationStatus.exited(0))")
        #expect(result.closureResult, "the error in the changed file was not logged")
        #expect(FileManager.default.fileExists(atPath: "\(folder)/vitals.sqlite"))
    }

    @Test func `a changed file that is refused does not change what is logged either`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let devices = "devices: [{id: a, driver: simulator}]\n"
        let before = "mqtt: {url: \"mqtt://127.0.0.1:\(try freePort())\"}\n" + devices
        let after = "mqtt: {url: mqtt://127.0.0.2}\nlog: {level: error}\n" + devices
        let path = try write(before, to: "c.yaml", in: folder)
        let result = try await Subprocess.run(
            .path(gatewayProgram), arguments: ["run", "--config", path], input: .none, output: .discarded,
            error: .sequence
        ) { execution in
            var isChanged = false
            var hasEnded = false
            for try await line in execution.standardError.strings() {
                if line.contains("Ended.") { hasEnded = true }
                if !isChanged, line.contains("The broker is not connected.") {
                    isChanged = true
                    try write(after, to: "c.yaml", in: folder)
                    try execution.send(signal: Signal(rawValue: SIGHUP))
                } else if line.contains("The configuration stays as it was.") {
                    try execution.send(signal: .terminate)
                }
            }
            return hasEnded
        }
        #expect(result.closureResult, "the process logs less than it was asked to")
    }

    @Test func `a removal beside a broken file is done, and ends with what keeps a gateway from applying it`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: "\(folder)/devices.d", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = try write("mqtt: {url: mqtt://h}\ndevices_from: devices.d\n", to: "c.yaml", in: folder)
        let add = ["add", "--write", "--driver", "simulator", "--option", "model=band", "--id", "b", "--config", path]
        #expect(try await runGateway(add).output == "\(folder)/devices.d/b.yaml\n")
        try write("id: s\ndriver: simulator\nopions: {}\n", to: "sim2.yaml", in: "\(folder)/devices.d")
        let removed = try await runGateway(["remove", "b", "--config", path])
        #expect(removed.status == "\(TerminationStatus.exited(78))")
        #expect(removed.output == "\(folder)/devices.d/b.yaml\n")
        #expect(removed.errors.contains("\n\(folder)/devices.d/sim2.yaml:3: opions: There is no such key."))
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/devices.d/b.yaml"))
    }

    @Test func `a running gateway applies what the program writes and removes`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: "\(folder)/devices.d", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let text = "mqtt: {url: \"mqtt://127.0.0.1:\(try freePort())\"}\ndevices_from: devices.d\n"
        let path = try write(text + "devices: [{id: a, driver: simulator}]\n", to: "c.yaml", in: folder)
        let add = ["add", "--write", "--driver", "simulator", "--option", "model=band", "--id", "b", "--config", path]
        let result = try await Subprocess.run(
            .path(gatewayProgram), arguments: ["run", "--config", path], input: .none, output: .discarded,
            error: .sequence
        ) { execution in
            var steps: [String] = []
            for try await line in execution.standardError.strings() {
                if steps.isEmpty, line.contains("The broker is not connected.") {
                    let added = try await runGateway(add)
                    steps.append(added.output + added.errors)
                } else if steps.count == 1, line.contains("The device is connected."), line.contains("device.id=b") {
                    let removed = try await runGateway(["remove", "b", "--config", path])
                    steps.append(removed.output + removed.errors)
                } else if steps.count == 2, line.contains("devices_from: a device was written or removed.") {
                    try execution.send(signal: .terminate)
                }
            }
            return steps
        }
        #expect("\(result.terminationStatus)" == "\(TerminationStatus.exited(0))")
        #expect(result.closureResult == ["\(folder)/devices.d/b.yaml\n", "\(folder)/devices.d/b.yaml\n"])
    }
}
