import Foundation
import GatewayKit
import Glibc
import Testing

@testable import Gateway

/// Who may read or change the files of a gateway. The files are real; where the owner matters, the mode is a value, since only
/// root may give a file away.
@Suite struct FileModeTests {
    private static let reader = FileMode.Reader(user: 1000, groups: [1000, 50])

    @Test(
        arguments: [
            (0o600, 1000, 1000, nil), (0o400, 1000, 1000, nil), (0o700, 1000, 1000, nil),
            (0o640, 1000, 1000, "The group 1000 may use F. Run: chmod 600 F"),
            (0o620, 1000, 50, "The group 50 may use F. Run: chmod 600 F"),
            (0o604, 1000, 1000, "Every user of this machine may use F. Run: chmod 600 F"),
            (0o602, 1000, 1000, "Every user of this machine may use F. Run: chmod 600 F"),
            // Root's file for a group of the gateway: the usual way to give a service its secret.
            (0o640, 0, 50, nil),
            (0o644, 0, 50, "Every user of this machine may use F. Run: chmod 640 F"),
            (0o640, 0, 7, "The group 7 may use F. Run: chmod 600 F"),
            (0o644, 0, 7, "Every user of this machine may use F. Run: chown 1000 F && chmod 600 F"),
        ] as [(Int, Int, Int, String?)])
    func `says who may use a secret, and the command that keeps it`(
        bits: Int, owner: Int, group: Int, text: String?
    ) {
        let mode = FileMode(bits: mode_t(bits), owner: uid_t(owner), group: gid_t(group))
        #expect(mode.exposure(of: "F", to: Self.reader) == text)
    }

    @Test func `root needs no permission, so the shortest command is right`() {
        let mode = FileMode(bits: 0o644, owner: 1000, group: 1000)
        let root = FileMode.Reader(user: 0, groups: [0])
        #expect(mode.exposure(of: "F", to: root) == "Every user of this machine may use F. Run: chmod 600 F")
    }

    @Test func `this process is a user with groups`() {
        let reader = FileMode.Reader.process
        #expect(reader.user == geteuid())
        #expect(reader.groups.contains(getegid()))
    }

    private static let minimal = "mqtt: {url: mqtt://h}\n"

    private func warnings(_ text: String, permissions: Int = 0o600, in folder: String) throws -> [String] {
        let path = try write(text, to: "c.yaml", in: folder, permissions: permissions)
        return try load(text, in: folder).checkFileModes(of: path)
            .map { $0.text(file: "c").replacing(folder, with: "F") }
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func `a configuration that everybody may change starts anybody's programs`() throws {
        try withFolder { folder in
            let open = try warnings(Self.minimal, permissions: 0o646, in: folder)
            #expect(
                open == [
                    "c: Every user of this machine may change F/c.yaml, and with it the programs that the gateway starts. "
                        + "Run: chmod o-w F/c.yaml"
                ])
            let usual = try warnings(Self.minimal, permissions: 0o644, in: folder)
            #expect(usual == [])
        }
    }

    @Test func `a configuration with a program's secret is for its owner only`() throws {
        let text =
            Self.minimal + """
                devices:
                  - id: a
                    driver: test
                    transport: {type: memory, environment: {CLOUD_TOKEN: abc, TOKEN_FILE: /x}}
                """
        let value = try YAMLDocument(text).root
        #expect(value.firstSecret()?.path == "devices[0].transport.environment.CLOUD_TOKEN")
        #expect(value.firstSecret()?.line == 5)
        for harmless in [
            "mqtt: {password: {file: x}}", "environment: {TOKEN_FILE: /x, SECRETPATH: /y}", "token: ''",
            "a: [1, {b: 2}]",
        ] {
            #expect(try YAMLDocument(harmless).root.firstSecret() == nil, "\(harmless)")
        }
    }

    @Test func `warns of a secret in a configuration that others may read`() throws {
        try withFolder { folder in
            let text = Self.minimal + "devices: [{id: a, driver: simulator, options: {api_token: abc}}]\n"
            let source = try YAMLDocument(text).root
            var configuration = try load(Self.minimal, in: folder)
            configuration.source = source
            let path = try write(text, to: "c.yaml", in: folder, permissions: 0o644)
            #expect(
                configuration.checkFileModes(of: path).map { $0.text(file: "c") } == [
                    "c:2: devices[0].options.api_token: This looks like a secret. Every user of this machine may use "
                        + "\(path). Run: chmod 600 \(path)"
                ])
            try setMode(0o600, of: path)
            #expect(configuration.checkFileModes(of: path) == [])
        }
    }

    @Test func `warns of a store, its log and its copies that others may read`() throws {
        try withFolder { folder in
            let names = [
                "s.sqlite", "s.sqlite-wal", "s.sqlite.lock", "s.sqlite.corrupt-20261118T104512000Z",
                "s.sqlite.version-4",
            ]
            for name in names { try write("x", to: name, in: folder, permissions: 0o600) }
            try write("x", to: "other.sqlite", in: folder, permissions: 0o644)
            try setMode(0o755, of: folder)
            let text = Self.minimal + "store: {path: s.sqlite}\n"
            #expect(try warnings(text, in: folder) == [])
            for name in names { try setMode(0o640, of: "\(folder)/\(name)") }
            let warning =
                "c:2: store.path: Other users of this machine may read health data: s.sqlite, s.sqlite-wal, "
                + "s.sqlite.corrupt-20261118T104512000Z and 2 more. Run: chmod 600 F/s.sqlite*"
            #expect(try warnings(text, in: folder) == [warning])
            // No other user gets to them in a folder that only its owner may enter.
            try setMode(0o700, of: folder)
            #expect(try warnings(text, in: folder) == [])
        }
    }

    @Test func `warns of a folder where everybody may put files beside the store`() throws {
        try withFolder { folder in
            try setMode(0o1777, of: folder)
            defer { try? setMode(0o700, of: folder) }
            #expect(
                try warnings(Self.minimal + "store: {path: s.sqlite}\n", in: folder) == [
                    "c:2: store.path: Every user of this machine may put files beside the store, in F. Use a folder of its "
                        + "own, or run: chmod o-w F"
                ])
        }
    }

    @Test func `check-config shows the warnings, and the configuration stays good`() throws {
        try withFolder { folder in
            let path = try write(Self.minimal, to: "c.yaml", in: folder, permissions: 0o606)
            let report = ConfigurationReport(
                checking: path, with: ConfigurationLoader(plugins: TestPlugin.catalogue, environment: [:]))
            #expect(report.status == .success)
            #expect(report.problems.contains("warning: \(path): Every user of this machine may change"))
        }
    }
}
