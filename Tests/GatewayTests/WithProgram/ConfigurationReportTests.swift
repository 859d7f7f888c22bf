import BundledPlugins
import Foundation
import GRDB
import Gateway
import GatewayKit
import Glibc
import Listening
import TestSupport
import Testing
import Vitals
import Web

@testable import Store

@Suite struct ConfigurationReportTests {
    private let bundled: ConfigurationLoader

    init() throws {
        bundled = ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:])
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test func `counts the devices of a good configuration, and warns`() throws {
        try withFolder { folder in
            let one = try write("mqtt: {url: mqtt://h}\ndevices: [{id: a, driver: simulator}]\n", to: "a", in: folder)
            let report = ConfigurationReport(checking: one, with: bundled)
            #expect(report.output == "OK: 1 device.\n")
            #expect(report.problems.isEmpty)
            #expect(report.status == .success)
            let none = try write("mqtt: {url: mqtt://h}\n", to: "b", in: folder)
            let warned = ConfigurationReport(checking: none, with: bundled)
            #expect(warned.output == "OK: 0 devices.\n")
            #expect(warned.problems == "warning: \(none):1: devices: No device is configured.\n")
        }
    }

    @Test func `names every error with file and line`() throws {
        try withFolder { folder in
            let path = try write("mqtt: {url: mqtt://h}\nlog: {level: loud}\nstor: 1\n", to: "a", in: folder)
            let report = ConfigurationReport(checking: path, with: bundled)
            #expect(report.status == .configuration)
            #expect(report.output.isEmpty)
            let lines = report.problems.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.first?.hasPrefix("\(path):2: log.level: One of ") == true)
            #expect(lines.last?.hasPrefix("\(path):3: stor: There is no such key. Did you mean store?") == true)
        }
    }

    @Test func `finds the sample configuration without an error or a warning`() {
        let path = Self.root.appending(path: "deploy/vitals2mqtt.yaml").path
        let report = ConfigurationReport(checking: path, with: bundled)
        #expect(report.problems == "")
        #expect(report.status == .success)
    }

    /// The disabled settings in the sample must be valid, too: `#` directly before a key disables it, `# ` begins an
    /// explanation.
    @Test func `finds no error in the sample where everything is switched on`() async throws {
        let sample = try String(contentsOf: Self.root.appending(path: "deploy/vitals2mqtt.yaml"), encoding: .utf8)
        let (text, count) = switchedOn(sample)
        #expect(count > 10)
        let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let tokens = ["grafana", "phone-2", "phone-3", "phone-4", "script-1", "sensor-1", "home-assistant"]
            .map { "\($0)-token" }
        for name in tokens + ["mqtt-password"] { try write("secret-of-\(name)\n", to: name, in: folder) }
        try write("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", to: "proxy.key", in: folder)
        try write("$y$j9T$/.0123456789$0123456789abcdef\n", to: "web-password", in: folder)
        try FileManager.default.createDirectory(atPath: "\(folder)/devices.d", withIntermediateDirectories: false)
        let made = try await Certificates.make(in: folder)
        for (path, name) in [
            (made.server, "tcp.pem"), (made.serverKey, "tcp-key.pem"), (made.server, "web.pem"),
            (made.serverKey, "web-key.pem"),
        ] {
            try write(try String(contentsOfFile: path, encoding: .utf8), to: name, in: folder)
        }
        // Certificates are valid only with TLS, and the program is the user's own.
        let withTLS = text.replacing("mqtt://127.0.0.1:1883", with: "mqtts://127.0.0.1")
            .replacing("/usr/local/bin/strap-bridge", with: "/bin/cat")
            .replacing("{path: phone,", with: "{path: .,").replacing("{path: health,", with: "{path: .,")
            .replacing("{path: fit,", with: "{path: .,")
        let configuration = try bundled.load(text: withTLS, directory: folder)
        #expect(configuration.devices.count >= 4)
        #expect(configuration.warnings == [])
    }

    @Test func `accepts the configuration of the containers`() throws {
        let path = Self.root.appending(path: "deploy/docker/vitals2mqtt.yaml")
        try withFolder { folder in
            try write("secret\n", to: "mqtt-password", in: folder)
            let text = try String(contentsOf: path, encoding: .utf8).replacing("/run/secrets", with: folder)
            #expect(try bundled.load(text: text, directory: folder).warnings.map(\.path) == ["mqtt.url"])
        }
    }

    @Test func `finds the demo's configuration without an error or a warning`() throws {
        let text = DemoConfiguration.text(broker: "mqtt://127.0.0.1:1883", listen: "127.0.0.1:8480")
        try withFolder { folder in
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(DemoConfiguration.devices)", withIntermediateDirectories: false)
            let configuration = try bundled.load(text: text, directory: folder)
            #expect(configuration.devices.map(\.info.id.text) == ["band", "ring", "cuff", "oximeter", "sensor"])
            #expect(configuration.warnings == [])
        }
    }

    private func problems(_ text: String, in folder: String) throws -> (isUsable: Bool, text: String) {
        let path = try write(
            "mqtt: {url: mqtt://h}\ndevices: [{id: a, driver: simulator}]\n\(text)\n", to: "c", in: folder)
        let report = ConfigurationReport(checking: path, with: bundled)
        return (report.status == .success, report.problems.replacing(folder, with: "F"))
    }

    @Test func `warns of a program that is not there, which may come later`() throws {
        try withFolder { folder in
            let path = try write(
                """
                mqtt: {url: mqtt://127.0.0.1}
                devices:
                  - id: a
                    driver: link
                    transport: {type: exec, command: [/no/such/bridge]}

                """, to: "c", in: folder)
            let report = ConfigurationReport(checking: path, with: bundled)
            #expect(report.status == .success)
            #expect(
                report.problems.contains(
                    "warning: \(path):5: devices[0].transport.command: The program /no/such/bridge does not exist or may not be run."
                ), "\(report.problems)")
        }
    }

    @Test func `finds a place where the store cannot be, as the gateway would`() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: "\(folder)/sub", withIntermediateDirectories: false)
            try write("x", to: "file", in: folder)
            for (path, message) in [
                ("none/v.sqlite", "The folder F/none does not exist. Create it, or set another store.path."),
                ("sub", "F/sub is no file. Set store.path to a file; it is made where it is missing."),
                ("file/v.sqlite", "F/file is no folder. Set another store.path."),
            ] {
                let (isUsable, text) = try problems("store: {path: \(path)}", in: folder)
                #expect(!isUsable)
                #expect(text == "F/c:3: store.path: \(message)\n")
            }
            let link = "\(folder)/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "gone/v.sqlite")
            let (isUsable, text) = try problems("store: {path: link}", in: folder)
            #expect(!isUsable)
            #expect(
                text
                    == "F/c:3: store.path: F/link is a link to gone/v.sqlite, whose folder cannot be found. Create that folder, "
                    + "or set another store.path.\n")
            try FileManager.default.createDirectory(atPath: "\(folder)/gone", withIntermediateDirectories: false)
            for path in ["sub/new.sqlite", "link"] {
                let (isGood, nothing) = try problems("store: {path: \(path)}", in: folder)
                #expect(isGood && nothing.isEmpty, "\(path)")
            }
        }
    }

    @Test func `warns of a file that is no store`() throws {
        try withFolder { folder in
            try write("no database", to: "v", in: folder, permissions: 0o600)
            let (isUsable, text) = try problems("store: {path: v}", in: folder)
            #expect(isUsable)
            #expect(
                text == "warning: F/c:3: store.path: F/v is no SQLite database. The gateway would move it aside and "
                    + "begin a new one.\n")
            try write("SQLite format 3\0", to: "w", in: folder)
            let (isGood, nothing) = try problems("store: {path: w}", in: folder)
            #expect(isGood && nothing.isEmpty)
        }
    }

    @Test func `refuses the database of another program`() throws {
        try withFolder { folder in
            var bytes = Data("SQLite format 3\0".utf8) + Data(count: 4_080)
            bytes[100] = 13
            bytes[104] = 1
            try bytes.write(to: URL(filePath: "\(folder)/v"))
            let (isUsable, text) = try problems("store: {path: v}", in: folder)
            #expect(!isUsable)
            #expect(
                text == "F/c:3: store.path: F/v is the database of another program. Set another store.path.\n")
        }
    }

    @Test func `refuses a store of a newer version, and says that a gateway uses the store`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try SQLiteStore(
            path: "\(folder)/v", now: Timestamp(seconds: 1_795_000_000), newIdentity: SampleID(high: 1, low: 1))
        let path = try write(
            "mqtt: {url: mqtt://h}\ndevices: [{id: a, driver: simulator}]\nstore: {path: v}\n", to: "c", in: folder)
        let used = ConfigurationReport(checking: path, with: bundled)
        #expect(used.status == .success)
        #expect(used.problems.isEmpty)
        #expect(used.output == "OK: 1 device.\nA gateway uses \(folder)/v now. A second one would be refused.\n")
        try await store.write { transaction in
            try transaction.execute("INSERT INTO grdb_migrations VALUES ('99')", [])
        }
        try await store.close()
        let newer = ConfigurationReport(checking: path, with: bundled)
        #expect(newer.status == .configuration)
        #expect(
            newer.problems
                == "\(path):3: store.path: \(folder)/v was made by a newer version of vitals2mqtt. Use that one, "
                + "or another store.path.\n")
    }

    @Test func `refuses the key of another certificate`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let made = try await Certificates.make(in: folder)
        func report(_ key: String) throws -> ConfigurationReport {
            let text = """
                mqtt: {url: mqtts://h, tls: {certificate_file: client.pem, key_file: \(key)}}
                devices: [{id: a, driver: simulator}]
                store: {path: v}
                """
            return ConfigurationReport(checking: try write(text, to: "c", in: folder), with: bundled)
        }
        #expect(try report("client.key").status == .success)
        let none = try report("client.pem")
        #expect(none.status == .configuration)
        #expect(
            none.problems.hasPrefix("\(folder)/c:1: mqtt.tls.key_file: \(made.client) has no private key in it"),
            "\(none.problems)")
        let wrong = try report("server.key")
        #expect(wrong.status == .configuration)
        #expect(
            wrong.problems
                == "\(folder)/c:1: mqtt.tls.key_file: \(made.serverKey) is not the key of \(made.client). Set the "
                + "files that were made together.\n")
    }

    @Test func `warns of a token that can be guessed, and of one that two devices have`() throws {
        let good = String(repeating: "a", count: ConfigurationReader.shortestToken)
        let loader = ConfigurationLoader(
            plugins: try PluginCatalogue(BundledPlugins.all),
            environment: ["SHORT": String(good.dropLast()), "GOOD": good])
        try withFolder { folder in
            func problems(_ tokens: String...) throws -> String {
                let devices = tokens.enumerated().map { number, token in
                    "  - {id: p\(number), driver: health-auto-export, transport: {type: http, token: {env: \(token)}}}\n"
                }
                let path = try write("mqtt: {url: mqtt://h}\ndevices:\n\(devices.joined())", to: "c", in: folder)
                return ConfigurationReport(checking: path, with: loader).problems.replacing(folder, with: "F")
            }
            let remedy = "Make one with openssl rand -hex 32.\n"
            let (fine, short, shared) = (
                try problems("GOOD"), try problems("SHORT", "GOOD"), try problems("GOOD", "GOOD")
            )
            #expect(fine == "")
            #expect(
                short
                    == "warning: F/c:3: devices[0].transport.token: The token has 15 characters, and can be guessed. \(remedy)"
            )
            #expect(
                shared
                    == "warning: F/c:4: devices[1].transport: p0 has the same token: each can send as the other. \(remedy)"
            )
        }
    }

    @Test func `warns of an export that is not there`() throws {
        try withFolder { folder in
            func problems(_ path: String) throws -> String {
                let device = "{id: a, driver: gadgetbridge, options: {path: \(path)}}"
                let file = try write("mqtt: {url: mqtt://h}\ndevices: [\(device)]\n", to: "c", in: folder)
                return ConfigurationReport(checking: file, with: bundled).problems.replacing(folder, with: "F")
            }
            let missing = "There is no F/phone. Check the path, and whether the phone has exported yet.\n"
            let (warned, fine) = (try problems("phone"), try problems("."))
            #expect(warned == "warning: F/c:2: devices[0].options.path: \(missing)")
            #expect(fine == "")
        }
    }

    @Test func `refuses two services that listen at one address`() throws {
        let loader = ConfigurationLoader(
            plugins: try PluginCatalogue(BundledPlugins.all),
            environment: ["TOKEN": "0123456789abcdef", "OTHER": "fedcba9876543210"])
        func report(_ web: String?, _ tcp: String, caller: String = "listen: true, token: {env: OTHER}") throws
            -> String
        {
            try withFolder { folder in
                let text = """
                    mqtt: {url: mqtt://h}
                    devices:
                      - {id: a, driver: health-auto-export, transport: {type: http, token: {env: TOKEN}}}
                      - {id: b, driver: link, transport: {type: tcp, \(caller)}}
                    \(web.map { "web: {\($0)}" } ?? "")
                    plugins: {tcp: {\(tcp)}}
                    """
                let path = try write(text, to: "c", in: folder)
                return ConfigurationReport(checking: path, with: loader).problems.replacing(folder, with: "F")
            }
        }
        let same = "listen: \"127.0.0.1:7000\""
        let issue = "plugins.tcp.listen: The address 127.0.0.1:7000 is that of web already. Choose another port.\n"
        #expect(try report(same, same) == "F/c:6: \(issue)")
        #expect(try report("listen: \"0.0.0.0:7000\", insecure: true", same) == "F/c:6: \(issue)")
        #expect(try report(same, "listen: \"127.0.0.1:7001\"") == "")
        #expect(try report("listen: \"127.0.0.1:0\"", "listen: \"127.0.0.1:0\"") == "")
        let web = try report("listen: \"127.0.0.1:7879\"", "")
        let remedy = "Choose another port here, or write plugins: {tcp: {listen: \"127.0.0.1:7880\"}}."
        #expect(
            web == "F/c:5: web.listen: The plugin tcp listens at 127.0.0.1:7879, unless it is told where. \(remedy)\n")
        // A service that no device uses is not started.
        let unused = try report(same, same, caller: "host: h, port: 1")
        #expect(unused.hasPrefix("warning: F/c:6: plugins.tcp: No device uses tcp"), "\(unused)")
    }

    @Test func `a device that posts opens the listener by its defaults, and another one does not`() throws {
        let loader = ConfigurationLoader(
            plugins: try PluginCatalogue(BundledPlugins.all), environment: ["TOKEN": "0123456789abcdef"])
        try withFolder { folder in
            func address(_ device: String) throws -> String? {
                let text = "mqtt: {url: mqtt://h}\ndevices: [{id: a, \(device)}]\n"
                return try loader.load(try write(text, to: "c", in: folder)).web?.listen.address.description
            }
            let posting = try address("driver: health-auto-export, transport: {type: http, token: {env: TOKEN}}")
            let other = try address("driver: simulator")
            #expect(posting == "127.0.0.1:8480" && other == nil)
        }
    }

    @Test func `refuses a file that nobody may wait for`() throws {
        try withFolder { folder in
            try #require(mkfifo("\(folder)/fifo", 0o600) == 0)
            let report = ConfigurationReport(checking: "\(folder)/fifo", with: bundled)
            #expect(
                report.problems
                    == "\(folder)/fifo: The configuration file cannot be read: it is no regular file.\n")
            let path = try write(
                "mqtt: {url: mqtts://h, username: u, password: {file: fifo}, tls: {ca_file: fifo}}\n", to: "d",
                in: folder)
            let all = ConfigurationReport(checking: path, with: bundled).problems
            #expect(all.contains("mqtt.password.file: \(folder)/fifo cannot be read: it is no regular file."))
            #expect(all.contains("mqtt.tls.ca_file: \(folder)/fifo cannot be read: it is no regular file."))
            let endless = try write(
                "mqtt: {url: mqtts://h, username: u, password: {file: /dev/zero}, tls: {ca_file: /dev/zero}}\n",
                to: "e", in: folder)
            let both = ConfigurationReport(checking: endless, with: bundled).problems
            for key in ["mqtt.password.file", "mqtt.tls.ca_file"] {
                #expect(both.contains("\(key): /dev/zero cannot be read: it is no regular file."))
            }
        }
    }
}
