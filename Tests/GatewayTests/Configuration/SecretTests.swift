import Foundation
import GatewayKit
import Testing

@testable import Gateway

@Suite struct SecretTests {
    private func text(_ password: String) -> String {
        "mqtt:\n  url: mqtt://127.0.0.1\n  username: vitals\n  password: \(password)\n"
    }

    @Test(arguments: [("pass word\n", "pass word"), ("a\r\n", "a"), ("a", "a"), ("a\n\n", "a\n"), (" a ", " a ")])
    func `takes a file's text without its last newline`(content: String, secret: String) throws {
        try withFolder { folder in
            try write(content, to: "pw", in: folder)
            let configuration = try load(text("{file: pw}"), in: folder)
            #expect(configuration.mqtt.password?.value == secret)
            #expect(!configuration.warnings.contains { $0.path == "mqtt.password.file" })
        }
    }

    @Test func `takes an absolute path as it is`() throws {
        try withFolder { folder in
            let path = try write("x", to: "pw", in: folder)
            #expect(try load(text("{file: \(path)}")).mqtt.password?.value == "x")
        }
    }

    @Test func `warns of a file that others may read`() throws {
        try withFolder { folder in
            let path = try write("x", to: "pw", in: folder, permissions: 0o640)
            let group = try #require(FileMode(of: path)).group
            let warnings = try load(text("{file: pw}"), in: folder).warnings.map { $0.text(file: "f") }
            #expect(
                warnings.contains(
                    "f:4: mqtt.password.file: The group \(group) may use \(path). Run: chmod 600 \(path)"))
            let kept = try load(text("{file: pw}"), in: folder, environment: ["CREDENTIALS_DIRECTORY": folder])
            #expect(!kept.warnings.contains { $0.path == "mqtt.password.file" })
        }
    }

    @Test(arguments: [(0o600, false), (0o640, true)])
    func `checks the file that a link leads to, not the link`(permissions: Int, isWarned: Bool) throws {
        try withFolder { folder in
            try write("x", to: "real", in: folder, permissions: permissions)
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/pw", withDestinationPath: "real")
            let configuration = try load(text("{file: pw}"), in: folder)
            #expect(configuration.mqtt.password?.value == "x")
            #expect(configuration.warnings.contains { $0.path == "mqtt.password.file" } == isWarned)
        }
    }

    @Test func `takes the environment`() throws {
        #expect(try load(text("{env: PW}"), environment: ["PW": "x"]).mqtt.password?.value == "x")
    }

    @Test(arguments: [
        ("hunter2", "4: mqtt.password: A secret must not be written here. Write {file: PATH} or {env: NAME}."),
        ("{env: PW}", "4: mqtt.password.env: The environment variable PW is not set, or empty."),
        ("{file: a, env: B}", "4: mqtt.password: Either file or env is needed here: {file: PATH} or {env: NAME}."),
        ("{fil: a}", "4: mqtt.password: Either file or env is needed here: {file: PATH} or {env: NAME}."),
        ("{file: pw}", "4: mqtt.password.file: /nowhere/pw cannot be read: it does not exist."),
        ("{file: /}", "4: mqtt.password.file: / cannot be read: it is a folder."),
    ])
    func `says how a secret is given`(password: String, issue: String) {
        let found = issues(text(password))
        #expect(found.first?.hasPrefix(issue) == true, "\(found)")
        #expect(!found.joined().contains("hunter2"))
    }

    @Test(arguments: [
        ("", "is empty"), ("\n", "is empty"), ("a\nb\n", "has several lines. The secret is the file's only line."),
        ("a\r\nb", "has several lines"), ("# Anna's\n\na\n", "has several lines"),
        (String(repeating: "a", count: 65_536), "longer than 65535"),
    ])
    func `refuses a file that is no secret`(content: String, reason: String) throws {
        try withFolder { folder in
            try write(content, to: "pw", in: folder)
            let found = issues(text("{file: pw}"), in: folder)
            #expect(found.count == 1)
            #expect(found.first?.contains(reason) == true, "\(found)")
        }
    }

    @Test func `needs a username beside a password`() {
        let found = issues("mqtt: {url: mqtt://127.0.0.1, password: {env: PW}}", environment: ["PW": "x"])
        #expect(found == ["1: mqtt.password: A password needs a username beside it."])
    }

    @Test func `warns of a password that leaves the machine in the clear`() throws {
        let far = try load(
            "mqtt: {url: mqtt://broker.lan, username: a, password: {env: PW}}", environment: ["PW": "x"])
        #expect(far.warnings.contains { $0.message.contains("goes to mqtt://broker.lan:1883 in the clear") })
    }

    @Test func `hides itself wherever it is shown`() throws {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        let mqtt = try load(text("{env: PW}"), environment: ["PW": "hunter2"]).mqtt
        var all = ""
        dump(mqtt, to: &all)
        for text in ["\(secret)", String(reflecting: secret), dumped, all, "\(mqtt)"] {
            #expect(!text.contains("hunter2"))
        }
    }
}
