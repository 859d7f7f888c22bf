import Foundation
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing

/// What many long documents at once cost the whole gateway.
@Suite(.timeLimit(.minutes(5)))
struct PhoneMemoryTests {
    /// Phones that post at once. Together their documents have 240 MiB.
    private static let phones = 12
    /// The 64 MiB of the listener's documents, and as much again: what the sockets hold, and what a thread's heap keeps for
    /// a while.
    private static let most = 128 << 10

    @Test func `many documents of twenty megabytes at once stay within the memory for documents, and none is lost`()
        async throws
    {
        try await withBench { bench in
            let port = try freePort()
            try bench.secret("anna's secret", as: "anna.token")
            try bench.configure(
                ["{id: anna, driver: health-auto-export, transport: {type: http, token: {file: anna.token}}}"],
                web: "{listen: \"127.0.0.1:\(port)\"}")
            let gateway = bench.startGateway(through: "echo \"process $$\"")
            try await bench.message("anna/link") { $0.json["state"]?.asString == "connecting" }
            let numbers = gateway.events.elements.compactMap { $0.text.firstMatch(of: /process (\d+)/)?.1 }
            let process = try #require(numbers.first.flatMap { Int($0) })
            for phone in 0..<Self.phones { try Self.write(phone, on: bench) }
            func post(_ phone: Int) async throws -> (status: Int, json: JSONValue) {
                // Without a length it may become the longest.
                let more = phone.isMultiple(of: 2) ? ["--header", "Transfer-Encoding: chunked"] : []
                return try await bench.post(
                    bench.path("\(phone).json"), to: "/v1/devices/anna", "anna's secret", port: port, more: more)
            }
            // A small one begins the session.
            try #"{"data":{}}"#.write(toFile: bench.path("empty"), atomically: true, encoding: .utf8)
            let empty = try await bench.post(bench.path("empty"), to: "/v1/devices/anna", "anna's secret", port: port)
            #expect(empty.status == 200)
            let before = try Self.peak(of: process)
            var refused: [Int] = []
            try await withThrowingTaskGroup(of: (Int, Int, JSONValue).self) { group in
                for phone in 0..<Self.phones {
                    group.addTask {
                        let answer = try await post(phone)
                        return (phone, answer.status, answer.json)
                    }
                }
                for try await (phone, status, json) in group {
                    #expect(status == 200 || json["error"]?["code"]?.asString == "unavailable", "\(status) \(json)")
                    #expect(status == 200 || status == 503)
                    if status != 200 { refused.append(phone) }
                }
            }
            #expect(refused.count < Self.phones)
            let rise = try Self.peak(of: process) - before
            #expect(rise < Self.most, "\(rise) KiB")
            // Who was refused comes again, and finds room.
            for phone in refused {
                let answer = try await post(phone)
                #expect(answer.status == 200 && answer.json["new"]?.asInt == 1, "\(answer)")
            }
            _ = try await bench.subscriber.wait(deadline: Bench.timeout) { messages in
                Set(
                    messages.filter { $0.topic.hasSuffix("/anna/measurement/heart_rate") }
                        .flatMap { $0.json["samples"]?.asArray ?? [] }.compactMap { $0["start"]?.asString }
                ).count == Self.phones
            }
        }
    }

    /// A document of exactly 20 MiB with one heart rate of its own.
    private static func write(_ phone: Int, on bench: Bench) throws {
        let minute = String(phone + 100).dropFirst()
        let text = """
            {"data":{"metrics":[{"name":"heart_rate","units":"bpm","data":[
            {"date":"2026-01-05 14:\(minute):00 +0100","Avg":72}]}]}}
            """
        let bytes = Data(text.utf8) + Data(repeating: 32, count: (20 << 20) - text.utf8.count)
        try bytes.write(to: URL(filePath: bench.path("\(phone).json")))
    }

    /// The most memory that a process has had, in KiB (proc(5)).
    private static func peak(of process: Int) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }
}
