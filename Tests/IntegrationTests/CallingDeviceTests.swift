import Foundation
import JSON
import TestSupport
import Testing

/// Calls of devices that go wrong, in the whole gateway.
@Suite(.timeLimit(.minutes(10)))
struct CallingDeviceTests {
    private struct Callers {
        let bench: Bench
        let port: Int

        /// A call of a device, which then is `program`.
        func call(_ device: String, _ token: String, _ program: [String]) -> ChildProgram {
            bench.programs.start(
                "python3", [Repository.fixture("calling_device.py"), "\(port)", device, token] + program)
        }
    }
    private static let silent = ["python3", "-c", "import time; time.sleep(600)"]
    private static let strap = ["python3", Repository.device, Repository.heartRates]

    /// Configures devices that call, each with its own token.
    private func withCallers(
        _ devices: [String], _ body: @escaping @Sendable (Callers, ChildProgram) async throws -> Void
    ) async throws {
        try await withBench { bench in
            let port = try freePort()
            for device in devices {
                let path = bench.path("\(device)-token")
                try "the token of \(device)\n".write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
            try bench.configure(
                devices.map {
                    "{id: \($0), driver: link, transport: {type: tcp, listen: true, token: {file: \($0)-token}}}"
                }, plugins: "{tcp: {listen: \"127.0.0.1:\(port)\"}}")
            let gateway = bench.startGateway()
            for device in devices {
                try await bench.message("\(device)/link") { $0.json["state"]?.asString == "connecting" }
            }
            try await body(Callers(bench: bench, port: port), gateway)
        }
    }

    @Test func `a device does not come in as another one`() async throws {
        try await withCallers(["anna", "ben"]) { callers, gateway in
            let thief = callers.call("anna", "the token of ben", Self.strap)
            try await thief.end(within: Bench.timeout)
            #expect(gateway.events.elements.contains { $0.text.contains("A call was refused.") })
            #expect(callers.bench.messages("anna/link").allSatisfy { $0.json["state"]?.asString != "connected" })
            // The owner of the token comes in as itself, at once.
            _ = callers.call("ben", "the token of ben", Self.strap)
            try await callers.bench.synced("ben")
        }
    }

    @Test func `a device that says nothing after its name is reported, and its next call is taken`() async throws {
        try await withCallers(["strap"]) { callers, _ in
            let bench = callers.bench
            let silent = callers.call("strap", "the token of strap", Self.silent)
            // No answer within the limit of a call ends the connection.
            try await bench.message("strap/link") {
                $0.json["state"]?.asString == "waiting" && $0.json["last_error"]?.asString != nil
            }
            let from = bench.position
            _ = callers.call("strap", "the token of strap", Self.strap)
            try await bench.connected("strap", from: from)
            try await bench.synced("strap")
            silent.interrupt(.kill)
            try await silent.end(within: Bench.timeout)
        }
    }

    @Test func `of two calls with one name the newer one is served`() async throws {
        try await withCallers(["strap"]) { callers, _ in
            let bench = callers.bench
            let older = callers.call("strap", "the token of strap", Self.strap)
            try await bench.connected("strap")
            let from = bench.position
            _ = callers.call("strap", "the token of strap", Self.strap)
            // The gateway has closed the connection of the older one.
            try await older.end(within: Bench.timeout)
            try await bench.connected("strap", from: from)
            try await bench.synced("strap")
            let expected = try await HeartRates(of: "strap", on: bench)
            var arrived: [String: JSONValue] = [:]
            for sample in bench.messages("strap/measurement/heart_rate").flatMap({ $0.json["samples"]?.asArray ?? [] })
            {
                if let id = sample["id"]?.asString { arrived[id] = sample }
            }
            expected.check(arrived)
        }
    }
}
