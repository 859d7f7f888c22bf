import Foundation
import GatewayKit
import GatewayTesting
import Logging
import TestSupport
import Testing

@testable import Exec

@Suite(.timeLimit(.minutes(1)))
struct ExecTransportTests {
    @Test(
        arguments: [
            ([], "command is missing"),
            ([("command", .scalar("cat", isQuoted: false))], "A list of texts"),
            ([("command", .words(["bin/bridge"]))], "absolute path, or a name"),
            ([("command", .words(["cat"])), ("directory", .scalar("here", isQuoted: false))], "An absolute path"),
            (
                [("command", .words(["cat"])), ("environment", .map([("2ND", .scalar("x", isQuoted: false))]))],
                "does not begin with a digit"
            ),
            (
                [("command", .words(["cat"])), ("limits", .map([("memory", .scalar("1MiB", isQuoted: false))]))],
                "A size from 4MiB"
            ),
            (
                [("command", .words(["cat"])), ("limits", .map([("descriptors", .scalar("7", isQuoted: false))]))],
                "8 to 1048576"
            ),
            (
                [("command", .words(["cat"])), ("limits", .map([("processes", .scalar("0", isQuoted: false))]))],
                "1 to 1048576"
            ),
            ([("command", .words(["cat"])), ("restart", .scalar("5s", isQuoted: false))], "There is no such key"),
        ] as [([(String, ConfigurationValue.Content)], String)])
    func `reports an error in the configuration`(options: [(String, ConfigurationValue.Content)], message: String) {
        var reader = ConfigurationReader(ConfigurationValue(.map(options)))
        _ = ExecTransport(options: &reader)
        let issues = reader.finish()
        #expect(issues.count == 1)
        #expect(issues.first?.message.contains(message) == true, "\(issues)")
    }

    /// Commands that cannot be started.
    private static let impossible: [([String], String?, String)] = [
        (["/no/such/program"], nil, "The program /no/such/program does not exist or may not be run."),
        (["no-such-program"], nil, "The program no-such-program is not found in /"),
        (["/etc/passwd"], nil, "The program /etc/passwd does not exist or may not be run."),
        (["/etc"], nil, "The program /etc does not exist or may not be run."),
        (["/bin/cat"], "/no/such/place", "The directory /no/such/place of the program /bin/cat does not exist"),
        (["/bin/cat"], "/etc/passwd", "The directory /etc/passwd of the program /bin/cat does not exist"),
    ]

    @Test(arguments: impossible)
    func `says why a program cannot be started`(command: [String], directory: String?, message: String) async throws {
        await #expect {
            try await transport(command, directory: directory).withBytes { _ in Issue.record("It was started.") }
        } throws: { error in
            let error = error as? LinkError
            return error?.code == .unreachable && error?.message.contains(message) == true
        }
    }

    /// What the check of a configuration warns of.
    private func warnings(_ options: [(String, ConfigurationValue.Content)]) -> [ConfigurationIssue] {
        var reader = ConfigurationReader(ConfigurationValue(.map(options)))
        _ = ExecTransport(options: &reader)
        return reader.warnings
    }

    @Test(arguments: impossible)
    func `the check warns of a program that cannot be started`(command: [String], directory: String?, message: String) {
        let place = directory.map { [("directory", ConfigurationValue.Content.scalar($0, isQuoted: false))] } ?? []
        let found = warnings([("command", .words(command))] + place)
        #expect(found.map(\.path) == [directory == nil ? "command" : "directory"])
        #expect(found.first?.message.contains(message) == true, "\(found)")
    }

    @Test(
        arguments: [
            [("command", .words(["/bin/cat"])), ("directory", .scalar("/usr", isQuoted: false))],
            [("command", .words(["cat"]))],
            // Errors, which are reported as such.
            [("command", .words([]))], [("command", .words(["bin/bridge"]))],
            [("command", .words(["cat"])), ("directory", .scalar("here", isQuoted: false))],
        ] as [[(String, ConfigurationValue.Content)]])
    func `the check does not warn of a program that is there, nor of an error`(
        options: [(String, ConfigurationValue.Content)]
    ) {
        #expect(warnings(options) == [])
    }

    @Test func `a name is looked for in the PATH that the program gets`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exec-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = "\(folder)/band-bridge"
        #expect(FileManager.default.createFile(atPath: program, contents: Data()))
        let options: [(String, ConfigurationValue.Content)] = [
            ("command", .words(["band-bridge"])),
            ("environment", .map([("PATH", .scalar("/nowhere:\(folder)", isQuoted: false))])),
        ]
        #expect(warnings(options).map(\.path) == ["command"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        #expect(warnings(options) == [])
    }

    @Test func `a program gets a few variables and the configured ones, and no secrets`() async throws {
        let exec = try transport(["env"], environment: [("BAND", "2"), ("LANG", "C")])
        let environment = exec.program.environment(of: [
            "HOME": "/home/vitals", "LANG": "de_DE.UTF-8", "MQTT_PASSWORD": "secret", "TZ": "Europe/Berlin",
        ])
        #expect(
            environment == [
                "BAND": "2", "HOME": "/home/vitals", "LANG": "C", "PATH": Program.defaultPath, "TZ": "Europe/Berlin",
            ])
        try await exec.withBytes { link in
            let lines = try await link.readAll().split(separator: "\n")
            #expect(lines.contains("BAND=2"))
            let names = Set(lines.map { String($0.prefix { $0 != "=" }) })
            #expect(names.isSubset(of: ["BAND", "HOME", "LANG", "PATH", "TZ"]), "\(names)")
        }
    }

    @Test func `a program runs where the configuration says`() async throws {
        try await transport(["pwd"], directory: "/usr").withBytes { link in
            let all = try await link.readAll()
            #expect(all == "/usr\n")
        }
    }

    @Test func `the standard error goes to the log, a line a message, with its level`() async throws {
        let log = LogRecorder()
        let script = "printf 'E! broken\\nW! odd\\r\\nI! fine\\nD! detail\\n\\nplain\\nno end' >&2"
        try await shell(script).withBytes(log: log) { link in _ = try await link.readAll() }
        let lines = log.entries.filter { $0.message != "The program has ended." }
        #expect(lines.map(\.level) == [.error, .warning, .info, .debug, .info, .info])
        #expect(lines.map(\.message) == ["broken", "odd", "fine", "detail", "plain", "no end"])
        #expect(lines.first?.metadata == ["exec.program": "/bin/sh"])
    }
}
