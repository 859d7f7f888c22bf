import BundledPlugins
import Foundation
import Gateway
import Subprocess
import Testing
import Vitals

/// `vitals2mqtt sources`, on exports that Python makes.
@Suite struct SourcesCommandTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func run(_ program: Executable, _ arguments: [String]) async throws -> (
        isGood: Bool, output: String, errors: String
    ) {
        let result = try await Subprocess.run(
            program, arguments: Arguments(arguments), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        return (result.terminationStatus.isSuccess, result.standardOutput, result.standardError)
    }

    private func export(_ script: String, _ arguments: [String]) async throws {
        let path = Self.root.appending(path: "Tests/IntegrationTests/Fixtures/\(script)").path
        let result = try await run(.name("python3"), ["-B", path] + arguments)
        try #require(result.isGood, "\(result.errors)")
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sources-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func health(in folder: URL) async throws -> String {
        let file = folder.appending(path: "Health Connect.zip").path
        try await export("health_connect_export.py", [file, "0-15=812", "15-30=9"])
        return file
    }

    @Test func `lists the apps of an export of Health Connect, and prints what to copy`() async throws {
        try await withFolder { folder in
            let file = try await health(in: folder)
            let result = try await run(.path(gatewayProgram), ["sources", file])
            #expect(result.isGood && result.errors.isEmpty, "\(result.errors)")
            #expect(
                result.output == """
                    \(file) is an export of Health Connect, schema 23.

                    Watch: "Pro"
                      steps  2  2026-01-05 12:00Z to 2026-01-05 12:15Z  steps_record_table
                      sleep  1  2026-01-04 22:00Z to 2026-01-04 22:00Z  sleep_session_record_table
                      skipped: cervical_mucus_record_table: no rule knows this table

                    Fit
                      steps  2  2026-01-05 12:00Z to 2026-01-05 12:15Z  steps_record_table

                    To copy into the configuration, each with an id of your own:

                    devices:
                      - id: watch-pro
                        name: "Watch: \\"Pro\\""
                        driver: health-connect-export
                        sync: {first: all}  # all records are older than 30 days
                        options:
                          path: "\(file)"
                          app: "com.example.watch"
                      - id: fit
                        name: "Fit"
                        driver: health-connect-export
                        sync: {first: all}  # all records are older than 30 days
                        options:
                          path: "\(file)"
                          app: "com.example.fit"

                    """)
        }
    }

    @Test func `the newest file of a folder is read, and says what it skips`() async throws {
        try await withFolder { folder in
            _ = try await health(in: folder)
            let file = folder.appending(path: "Gadgetbridge.db").path
            try await export("gadgetbridge_export.py", [file, "0=61", "1=62", "2=255"])
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 60)], ofItemAtPath: file)
            let result = try await run(.path(gatewayProgram), ["sources", folder.path])
            #expect(
                result.output.hasPrefix(
                    """
                    \(file) is an export of Gadgetbridge, schema 92.

                    Band 7
                      family: Huami, Amazfit with Mi Band protocol

                    """))
            #expect(
                result.output.contains(
                    "  heart_rate  2  2026-01-05 12:00Z to 2026-01-05 12:01Z  MI_BAND_ACTIVITY_SAMPLE\n"))
            #expect(
                result.output.contains(
                    "  skipped: MI_BAND_ACTIVITY_SAMPLE, 1 rows: not measured, by the app's own mark\n"))
            #expect(result.output.contains("      device: \"C0:11:22:33:44:55\"\n"))
        }
    }

    @Test func `what it prints passes the check of a configuration`() async throws {
        let loader = ConfigurationLoader(plugins: try PluginCatalogue(BundledPlugins.all), environment: [:])
        try await withFolder { folder in
            let file = try await health(in: folder)
            let band = folder.appending(path: "Gadgetbridge.db").path
            try await export("gadgetbridge_export.py", [band, "0=61"])
            for source in [file, band] {
                let output = try await run(.path(gatewayProgram), ["sources", source]).output
                let entries = try #require(output.range(of: "\ndevices:\n"))
                let text =
                    "mqtt: {url: mqtt://h}\nstore: {path: \(folder.path)/store.sqlite}" + output[entries.lowerBound...]
                let configuration = folder.appending(path: "vitals2mqtt.yaml")
                try text.write(to: configuration, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: configuration.path)
                let report = ConfigurationReport(checking: configuration.path, with: loader)
                #expect(report.status == .success && report.problems.isEmpty, "\(report.problems)\(text)")
                #expect(report.output == "OK: \(source == file ? 2 : 1) \(source == file ? "devices" : "device").\n")
            }
        }
    }

    @Test func `prints JSON for a program`() async throws {
        try await withFolder { folder in
            let file = try await health(in: folder)
            let output = try await run(.path(gatewayProgram), ["sources", "--json", file]).output
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            let devices = try #require(object["devices"] as? [[String: Any]])
            #expect(object["file"] as? String == file && devices.count == 2)
            let records = try #require(devices[0]["records"] as? [[String: Any]])
            #expect(records.map { $0["metric"] as? String } == ["steps", "sleep"])
            #expect(records[0]["count"] as? Int == 2 && records[0]["first"] as? String == "2026-01-05T12:00:00.000Z")
            #expect((devices[0]["options"] as? [String: String])?["app"] == "com.example.watch")
            // An app is no family of wearables.
            #expect(devices[0]["family"] is NSNull)
            let band = folder.appending(path: "Gadgetbridge.db").path
            try await export("gadgetbridge_export.py", [band, "0=61"])
            let other = try await run(.path(gatewayProgram), ["sources", "--json", band]).output
            #expect(other.contains("\"family\":\"Huami, Amazfit with Mi Band protocol\""), "\(other)")
        }
    }

    @Test func `a file that nobody knows ends with what is taken`() async throws {
        try await withFolder { folder in
            let takes = [
                "an export of Gadgetbridge: its SQLite database, or a zip with the entry database/Gadgetbridge",
                "an export of Health Connect: its SQLite database, or a zip with the entry health_connect_export.db",
                "an export of Apple's Health app: export.zip, or its export.xml",
            ]
            let letter = folder.appending(path: "letter.txt")
            try String(repeating: "Dear gateway, ", count: 20).write(to: letter, atomically: true, encoding: .utf8)
            for path in [letter.path, folder.path] {
                let result = try await run(.path(gatewayProgram), ["sources", path])
                #expect(!result.isGood && result.output.isEmpty)
                #expect(result.errors.hasPrefix("No plugin knows \(path)."), "\(result.errors)")
                for text in takes { #expect(result.errors.contains("  - \(text)\n"), "\(result.errors)") }
            }
            let missing = try await run(.path(gatewayProgram), ["sources", "/nowhere/a.db"])
            #expect(!missing.isGood && missing.errors == "There is no /nowhere/a.db.\n", "\(missing.errors)")
            let file = try await health(in: folder)
            let whole = try Data(contentsOf: URL(filePath: file))
            try whole.prefix(whole.count / 2).write(to: URL(filePath: file))
            let torn = try await run(.path(gatewayProgram), ["sources", file])
            #expect(!torn.isGood && torn.errors.contains("begins as a zip and does not end as one."), "\(torn.errors)")
        }
    }
}
