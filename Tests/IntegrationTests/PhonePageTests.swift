import Foundation
import GatewayTesting
import JSON
import Testing

/// The commands of the page for phones that push, typed as they stand there.
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

    private static func terminals() throws -> [Terminal] {
        let file = Repository.file("Sources/Gateway/Gateway.docc/PhonesThatPush.md")
        let page = try String(contentsOfFile: file, encoding: .utf8)
        return page.components(separatedBy: "```console\n").dropFirst().map { rest in
            Terminal(rest.components(separatedBy: "\n```")[0])
        }
    }

    @Test func `the page's commands make a secret, and post a document with the answer that it shows`() async throws {
        let terminals = try Self.terminals()
        // A secret and a check; a document and its posting; a message, whose rights deploy/mosquitto/check tries.
        try #require(terminals.count == 3)
        try await withBench { bench in
            let port = try freePort()
            let transport = "transport: {type: http, token: {file: annas-iphone.token}}"
            try bench.configure(
                ["{id: annas-iphone, driver: health-auto-export, offline_after: 26h, \(transport)}"],
                plugins: "{http: {listen: \"127.0.0.1:\(port)\"}}")
            func enter(_ terminal: Terminal) async throws -> [String] {
                let script = (["set -e", "cd '\(bench.folder)'"] + terminal.commands).joined(separator: "\n")
                    .replacing("vitals2mqtt check-config", with: "'\(Repository.gateway)' check-config")
                    .replacing("curl ", with: "curl --silent --show-error ")
                    .replacing("https://gateway.example:8480", with: "http://127.0.0.1:\(port)")
                let shell = bench.programs.start("bash", ["-c", script])
                try await shell.end(within: Bench.patience)
                let lines = shell.events.elements.map(\.text)
                #expect(lines.last == "ended: exited(0)", "\(lines)")
                return Array(lines.dropLast())
            }
            #expect(try await enter(terminals[0]) == ["OK: 1 device."])
            _ = bench.startGateway()
            try await bench.message("annas-iphone/link") { $0.json["state"]?.asString == "connecting" }
            let answer = try await enter(terminals[1])
            #expect(answer == terminals[1].output && answer.count == 1, "\(answer)")
        }
    }
}
