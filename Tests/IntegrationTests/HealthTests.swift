import Foundation
import JSON
import TestSupport
import Testing

/// The gateway's own listener: metrics and health of the running program, and its command `health`.
@Suite(.timeLimit(.minutes(10)))
struct HealthTests {
    private static func band(_ bench: Bench) -> String {
        "{id: band, name: The band of Anna, person: anna, driver: simulator, options: {model: band}}"
    }

    /// What the program's command says.
    private struct Health: Hashable {
        /// Whether it has ended with 0.
        var isWell: Bool
        var late: [String]
    }

    private func health(_ bench: Bench, _ options: [String] = []) async throws -> Health {
        let command = bench.programs.start(
            Repository.gateway, ["health", "--config", bench.path("gateway.yaml")] + options)
        try await command.end(within: Bench.timeout)
        let events = command.events.elements
        let line = events.lazy.map(\.text).first { $0.hasPrefix("{") } ?? "null"
        let late = try JSONValue(parsing: Array(line.utf8))["late"]?.asArray?.compactMap(\.asString) ?? ["no answer"]
        return Health(isWell: events.last?.text == "ended: exited(0)", late: late)
    }

    private func metrics(_ bench: Bench, port: Int) async throws -> [String] {
        let curl = bench.programs.start(
            "curl", ["--silent", "--show-error", "--max-time", "20", "http://127.0.0.1:\(port)/metrics"])
        try await curl.end(within: Bench.timeout)
        return curl.events.elements.filter { !$0.isEnd }.map(\.text)
    }

    @Test func `says how it is while the broker is away, moves with a reload, and names no person`() async throws {
        try await withBench { bench in
            let (first, second) = (try freePort(), try freePort())
            try bench.configure([Self.band(bench)], web: "{listen: \"127.0.0.1:\(first)\"}")
            let gateway = bench.startGateway()
            try await bench.synced("band")
            try await gateway.says("The gateway listens.")
            #expect(try await health(bench) == Health(isWell: true, late: []))
            try await bench.message("band/availability") { $0.text == "online" }
            #expect(try await health(bench, ["--ready"]) == Health(isWell: true, late: []))
            let lines = try await metrics(bench, port: first)
            #expect(lines.contains("vitals2mqtt_broker_connected 1"))
            #expect(
                lines.contains { $0.hasPrefix("vitals2mqtt_device_last_sample_timestamp_seconds{device=\"band\"} ") })
            #expect(!lines.contains { $0.lowercased().contains("anna") || $0.contains("vital_value") })

            try await bench.server.stop()
            // Until it has seen the end of the connection.
            while try await health(bench, ["--ready"]).late.isEmpty { try Task.checkCancellation() }
            #expect(try await health(bench, ["--ready"]) == Health(isWell: false, late: ["broker"]))
            #expect(try await health(bench) == Health(isWell: true, late: []))
            try await bench.server.start()

            try bench.configure([Self.band(bench)], web: "{listen: \"127.0.0.1:\(second)\", vital_metrics: true}")
            gateway.interrupt(.reload)
            while !(try await health(bench).isWell) { try Task.checkCancellation() }
            #expect(try await metrics(bench, port: second).contains { $0.hasPrefix("vitals2mqtt_vital_value{") })
            #expect(try await metrics(bench, port: first).first?.contains("vitals2mqtt_") != true)

            // Where mosquitto listens already.
            try bench.configure([Self.band(bench)], web: "{listen: \"127.0.0.1:\(bench.server.port)\"}")
            gateway.interrupt(.reload)
            try await gateway.says("The gateway listens as before.")
            #expect(try await metrics(bench, port: second).contains("vitals2mqtt_configuration_refused 1"))
        }
    }

    @Test func `a broker that drops what the gateway publishes is not ready, and the gateway lives`() async throws {
        let options = MosquittoOptions(
            accessList: ["topic read #"], lines: [MosquittoOptions.endsNoRefusedPublisher])
        try await withBench(options) { bench in
            try bench.configure(
                [Self.band(bench)], mqtt: ["protocol: \"3.1.1\""], web: "{listen: \"127.0.0.1:\(try freePort())\"}")
            let gateway = bench.startGateway()
            try await gateway.says("The broker drops what the gateway publishes")
            #expect(try await health(bench, ["--ready"]).late.contains("broker.access"))
            #expect(try await health(bench) == Health(isWell: true, late: []))
            try await bench.server.allow(["topic readwrite #"])
            while try await health(bench, ["--ready"]).late.contains("broker.access") { try Task.checkCancellation() }
        }
    }
}
