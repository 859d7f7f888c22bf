import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// Exports of Health Connect in the whole gateway.
@Suite(.timeLimit(.minutes(10)))
struct PhoneExportTests {
    private func export(_ steps: String, on bench: Bench) async throws {
        let program = bench.programs.start(
            "python3",
            ["-B", Repository.fixture("health_connect_export.py"), bench.path("phone/Health Connect.zip"), steps])
        try await program.end(within: Bench.timeout)
    }

    @Test func `what grew replaces its older self, and two apps are two devices`() async throws {
        try await withBench { bench in
            try FileManager.default.createDirectory(atPath: bench.path("phone"), withIntermediateDirectories: false)
            try await export("0-15=812", on: bench)
            func device(_ id: String, _ app: String) -> String {
                "{id: \(id), driver: health-connect-export, options: {path: phone, app: \(app)}}"
            }
            // Only the system's events can report a new export in time.
            try bench.configure(
                [device("watch", "com.example.watch"), device("fit", "com.example.fit")],
                plugins: "{healthconnectexport: {poll_interval: 1h}}")
            _ = bench.startGateway()
            for id in ["watch", "fit"] {
                try await bench.synced(id)
                #expect(bench.values(id, "steps") == [812])
            }
            // From 22:00 to 12:15.
            #expect(bench.values("watch", "sleep") == [855] && bench.values("fit", "sleep").isEmpty)

            try await export("0-30=900", on: bench)
            for topic in ["watch/measurement/steps", "fit/measurement/steps", "watch/measurement/sleep"] {
                try await bench.message(topic) { message in
                    (message.json["samples"]?.asArray ?? []).contains {
                        $0["end"]?.asString == "2026-01-05T12:30:00.000Z"
                    }
                }
            }
            for id in ["watch", "fit"] { #expect(bench.values(id, "steps") == [900]) }
            #expect(bench.values("watch", "sleep") == [870])
        }
    }
}
