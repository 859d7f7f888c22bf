import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// The pages for phones that push and for anybody's script: their configurations are read, and their commands run. They stand there as
/// they are typed, but for addresses and ports, a password, the certificate's authority, and the path of the gateway.
@Suite(.timeLimit(.minutes(5)))
struct PhonePageTests {
    /// What a page shows of a terminal.
    private struct Terminal {
        var commands: [String] = []
        var output: [String] = []

        init(_ block: String) {
            for line in block.split(separator: "\n") {
                if line.hasPrefix("$ ") {
                    commands.append(String(line.dropFirst(2)))
                } else if line.hasPrefix("    "), let last = commands.indices.last {
                    // A command goes on in lines that are indented.
                    commands[last] += "\n\(line)"
                } else {
                    output.append(String(line))
                }
            }
        }
    }

    /// The blocks of a page in a language.
    private static func blocks(_ language: String, of page: String) throws -> [String] {
        try String(contentsOfFile: Repository.file("docs/\(page).md"), encoding: .utf8)
            .components(separatedBy: "```\(language)\n").dropFirst().map { rest in
                rest.components(separatedBy: "\n```")[0]
            }
    }

    /// The page's blocks of configuration, and what it shows of terminals.
    private struct Page {
        /// A phone that posts; its source; another transport for it; a second phone; an uploader (`NightscoutPushTests` posts as it).
        let blocks: [String]
        /// A secret and a check; a document and its posting; a message; an upload.
        let terminals: [Terminal]

        init() throws {
            let configurations = try PhonePageTests.blocks("yaml", of: "PhonesThatPush")
            let consoles = try PhonePageTests.blocks("console", of: "PhonesThatPush")
            try #require(configurations.count == 5 && consoles.count == 4)
            blocks = configurations
            terminals = consoles.map { Terminal($0) }
        }

        /// The device of the first block, with the transport of the third.
        var publishing: String {
            blocks[0].split(separator: "\n").drop { $0 != "devices:" }
                .map { $0.hasPrefix("    transport:") ? blocks[2] : String($0) }.joined(separator: "\n")
        }
    }

    /// The machines of the page, on this one.
    private struct Site {
        let bench: Bench
        /// The port of the listener.
        let port: Int

        init(_ bench: Bench) async throws {
            self.bench = bench
            port = try freePort()
            let certificates = try await Certificates.make(in: bench.folder)
            try FileManager.default.copyItem(atPath: certificates.server, toPath: bench.path("gateway.pem"))
            let key = bench.path("gateway-key.pem")
            try FileManager.default.copyItem(atPath: certificates.serverKey, toPath: key)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }

        /// Writes a configuration with these devices, and the broker of the bench in place of the page's.
        func configure(_ devices: String) throws {
            let devices = devices.replacing("mqtt: {url: \"mqtt://broker.example\"}\n", with: "")
            let text = """
                gateway: {id: home, timezone: Europe/Berlin}
                mqtt: {url: "mqtt://127.0.0.1:\(bench.server.port)"}
                store: {path: vitals.sqlite}
                home_assistant: {discovery: "off"}
                \(devices.replacing("0.0.0.0:8480", with: "127.0.0.1:\(port)"))

                """
            try text.write(toFile: bench.path("gateway.yaml"), atomically: true, encoding: .utf8)
        }

        /// Runs the commands of a terminal, and returns what they print.
        func enter(_ terminal: Terminal) async throws -> [String] {
            let script = (["set -e", "cd '\(bench.folder)'"] + terminal.commands).joined(separator: "\n")
                .replacing("vitals2mqtt check-config", with: "'\(Repository.gateway)' check-config")
                .replacing("curl ", with: "curl --silent --show-error --cacert ca.pem ")
                .replacing("https://gateway.example:8480", with: "https://127.0.0.1:\(port)")
                .replacing("-h broker.example", with: "-h 127.0.0.1 -p \(bench.server.port)")
                .replacing("-P …", with: "-P secret")
            let shell = bench.programs.start("bash", ["-c", script])
            try await shell.end(within: Bench.timeout)
            let lines = shell.events.elements.map(\.text)
            #expect(lines.last == "ended: exited(0)", "\(lines)")
            return Array(lines.dropLast())
        }
    }

    @Test func `the page's commands make a secret, and post a document with the answer that it shows`() async throws {
        let page = try Page()
        try await withBench { bench in
            let site = try await Site(bench)
            try site.configure(page.blocks[0])
            #expect(try await site.enter(page.terminals[0]) == ["OK: 1 device."])
            _ = bench.startGateway()
            try await bench.message("annas-iphone/link") { $0.json["state"]?.asString == "connecting" }
            let answer = try await site.enter(page.terminals[1])
            #expect(answer == page.terminals[1].output && answer.count == 1, "\(answer)")
        }
    }

    @Test func `the page's upload as to Nightscout is taken, with the answer that it shows`() async throws {
        let page = try Page()
        try await withBench { bench in
            let site = try await Site(bench)
            for (name, digits) in [("annas-iphone", "01234567"), ("claras-sensor", "89abcdef")] {
                try bench.secret(String(repeating: digits, count: 8), as: "\(name).token")
            }
            try site.configure(page.blocks[0] + "\n" + page.blocks[4])
            _ = bench.startGateway()
            try await bench.message("claras-sensor/link") { $0.json["state"]?.asString == "connecting" }
            let answer = try await site.enter(page.terminals[3])
            #expect(answer == page.terminals[3].output && answer.count == 1, "\(answer)")
        }
    }

    @Test func `the shell line of anybody's script posts a weight, with the answer that its page shows`() async throws {
        let entry = try #require(try Self.blocks("yaml", of: "YourOwnScript").first)
        let line = Terminal(try #require(try Self.blocks("console", of: "YourOwnScript").first))
        let page = try Page()
        try await withBench { bench in
            let site = try await Site(bench)
            for (name, digits) in [("annas-iphone", "01234567"), ("script", "89abcdef")] {
                try bench.secret(String(repeating: digits, count: 8), as: "\(name).token")
            }
            try site.configure(page.blocks[0] + "\n" + entry)
            _ = bench.startGateway()
            try await bench.message("annas-script/link") { $0.json["state"]?.asString == "connecting" }
            // The page breaks the answer's one line.
            let shown = line.output.map { $0.trimmingCharacters(in: .whitespaces) }.joined()
            let answer = try await site.enter(line)
            #expect(answer == [shown], "\(answer)")
            let message = try await bench.message("annas-script/measurement/weight")
            #expect(message.json["samples"]?[0]?["value"]?.asDouble == 71.2)
        }
    }

    @Test func `each app's document with steps and a night is taken, and the topics answer that the page names`()
        async throws
    {
        let page = try Page()
        let file = try String(contentsOfFile: Repository.file("docs/PhonesThatPush.md"), encoding: .utf8)
        let documents = file.components(separatedBy: "```json\n").dropFirst().map { rest in
            rest.components(separatedBy: "\n```")[0]
        }
        try #require(documents.count == 2)
        try await withBench { bench in
            let site = try await Site(bench)
            let phones = [("annas-iphone", "0123456789abcdef"), ("bens-phone", "fedcba9876543210")]
            for (phone, digits) in phones {
                try bench.secret(String(repeating: digits, count: 4), as: "\(phone).token")
            }
            try site.configure(page.blocks[0] + "\n" + page.blocks[3])
            _ = bench.startGateway()
            for ((phone, _), document) in zip(phones, documents) {
                try await bench.message("\(phone)/link") { $0.json["state"]?.asString == "connecting" }
                try document.write(toFile: bench.path("one.json"), atomically: true, encoding: .utf8)
                var posting = page.terminals[1]
                posting.commands.removeFirst()
                posting.commands = posting.commands.map { $0.replacing("annas-iphone", with: phone) }
                let answer = try await site.enter(posting)
                #expect(answer.first?.hasPrefix("{\"new\":2,") == true, "\(answer)")
                try await bench.message("\(phone)/measurement/steps")
                try await bench.message("\(phone)/measurement/sleep")
                try await bench.message("\(phone)/daily/steps/2026-01-05") { $0.json["total"]?.asInt == 412 }
                try await bench.message("\(phone)/latest/sleep") { $0.json["value"]?.asInt == 360 }
            }
        }
    }

    @Test func `the page's certificate of one's own is taken by the gateway, and by who trusts its authority`()
        async throws
    {
        let file = try String(contentsOfFile: Repository.file("docs/PhonesThatPush.md"), encoding: .utf8)
        let parts = file.components(separatedBy: "```sh\n")
        try #require(parts.count == 2)
        let script = parts[1].components(separatedBy: "\n```")[0]
        let page = try Page()
        try await withBench { bench in
            let site = try await Site(bench)
            try bench.secret("0123456789abcdef", as: "annas-iphone.token")
            for name in ["gateway.pem", "gateway-key.pem"] {
                try FileManager.default.removeItem(atPath: bench.path(name))
            }
            let shell = bench.programs.start("bash", ["-c", "set -e\ncd '\(bench.folder)'\n\(script)"])
            try await shell.end(within: Bench.timeout)
            try site.configure(page.blocks[0])
            #expect(
                try await site.enter(Terminal("$ vitals2mqtt check-config --config gateway.yaml")) == ["OK: 1 device."])
            let verify =
                "openssl verify -CAfile home.pem -purpose sslserver -verify_hostname gateway.example gateway.pem"
            #expect(try await site.enter(Terminal("$ \(verify)")) == ["gateway.pem: OK"])
        }
    }

    @Test func `each configuration of the page is taken where the page puts it`() async throws {
        let page = try Page()
        try await withBench { bench in
            let site = try await Site(bench)
            for (phone, digits) in [
                ("annas-iphone", "0123456789abcdef"), ("bens-phone", "fedcba9876543210"),
                ("claras-sensor", "0f1e2d3c4b5a6978"),
            ] {
                try bench.secret(String(repeating: digits, count: 4), as: "\(phone).token")
            }
            let check = Terminal("$ vitals2mqtt check-config --config gateway.yaml")
            for (devices, answer) in [
                (page.blocks[0] + "\n" + page.blocks[1], "OK: 1 device."), (page.publishing, "OK: 1 device."),
                (page.blocks[0] + "\n" + page.blocks[3], "OK: 2 devices."),
                (page.blocks[0] + "\n" + page.blocks[4], "OK: 2 devices."),
            ] {
                try site.configure(devices)
                #expect(try await site.enter(check) == [answer], "\(devices)")
            }
        }
    }

    /// The rights that the page names are those that Tests/Tools/check-mosquitto tries.
    @Test func `the page's message brings the document that was written before`() async throws {
        let page = try Page()
        try await withBench { bench in
            let site = try await Site(bench)
            try site.configure(page.publishing)
            _ = bench.startGateway()
            try await bench.message("annas-iphone/link") { $0.json["state"]?.asString == "connecting" }
            var document = page.terminals[1]
            document.commands.removeLast(document.commands.count - 1)
            #expect(try await site.enter(document).isEmpty)
            let topic = "annas-iphone/measurement/heart_rate"
            // The subscription follows the connection within moments; until then, a message has no receiver.
            while bench.messages(topic).isEmpty {
                #expect(try await site.enter(page.terminals[2]) == page.terminals[2].output)
                _ = try? await bench.subscriber.wait(deadline: .seconds(1)) { messages in
                    messages.contains { $0.topic == "\(Bench.base)/\(topic)" }
                }
            }
            let samples = bench.messages(topic).flatMap { $0.json["samples"]?.asArray ?? [] }
            #expect(samples.map { $0["value"]?.asInt } == [72])
        }
    }
}
