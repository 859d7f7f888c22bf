import Foundation
import Store
import Subprocess
import SystemPackage
import Testing
import Vitals

/// `vitals2mqtt erase` without a broker; `ErasingTests` has one.
@Suite struct EraseCommandTests {
    private static let program = FilePath(
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "vitals2mqtt").path)
    private static let now = Timestamp(seconds: 1_795_000_000)

    /// Runs the command on a store with a sample of each device. Returns also how many samples are left, by device.
    private func run(
        _ options: [String]
    ) async throws -> (status: String, output: String, errors: String, left: [String: Int]) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "erase-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try SQLiteStore(
            path: "\(folder)/s.sqlite", now: Self.now, newIdentity: SampleID(high: 1, low: 2))
        for name in ["band-1", "cuff-1", "old-1"] {
            let device = try #require(DeviceID(name))
            let samples = [nil, 1, 2].enumerated().map { number, user in
                var sample = Sample(
                    metric: .heartRate, start: Self.now + .seconds(number), reading: .value(60))
                sample.user = user
                return sample
            }
            _ = try await store.ingest(
                Ingest(device: device, samples: samples, receivedAt: Self.now) { _ in IngestOutcome() })
        }
        let seen = AlertLevel(
            rule: AlertRule(.stress, .high), isActive: true, since: Self.now, lastID: SampleID(high: 3, low: 4),
            acknowledgement: Acknowledgement(by: "dora", at: Self.now))
        try await store.save([.level(seen)], of: try #require(DeviceID("band-1")))
        try await store.close()
        try "a copy".write(toFile: "\(folder)/s.sqlite.replaced-1", atomically: false, encoding: .utf8)
        let path = "\(folder)/c.yaml"
        try """
        store: {path: s.sqlite}
        mqtt: {url: "mqtt://127.0.0.1:1"}
        devices:
          - {id: band-1, person: anna, driver: simulator}
          - {id: cuff-1, people: {1: anna, 2: ben}, driver: simulator, options: {model: cuff}}

        """.write(toFile: path, atomically: false, encoding: .utf8)
        let result = try await Subprocess.run(
            .path(Self.program), arguments: Arguments(["erase", "--config", path] + options),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        let left = try StoreInspection(of: "\(folder)/s.sqlite").series.reduce(into: [String: Int]()) {
            $0[$1.device, default: 0] += $1.samples
        }
        return ("\(result.terminationStatus)", result.standardOutput, result.standardError, left)
    }

    private static let failed = "\(TerminationStatus.exited(1))"
    private static let all = ["band-1": 3, "cuff-1": 3, "old-1": 3]

    @Test func `says what goes, and erases nothing unless the name is typed or --yes is given`() async throws {
        let result = try await run(["--person", "anna"])
        #expect(result.status == Self.failed)
        #expect(result.left == Self.all)
        for line in [
            "  band-1: everything\n", "  cuff-1: user slot 1; ", "s.sqlite.replaced-1\n", "It cannot reach:\n",
            "recorder.purge_entities", "Without a terminal --yes is needed.\nNothing was erased.\n",
        ] {
            #expect(result.errors.contains(line), "\(line) is not in \(result.errors)")
        }
    }

    @Test func `a person who wears nothing, and has only seen an alert, can be erased, too`() async throws {
        let asked = try await run(["--person", "dora"])
        #expect(asked.errors.contains("  band-1: that dora has acknowledged stress_high\n"), "\(asked.errors)")
        let done = try await run(["--person", "dora", "--yes"])
        #expect(done.left == Self.all)
        #expect(done.errors.contains("The store has nothing of it any more: 0 samples are erased."), "\(done.errors)")
    }

    @Test(arguments: [
        (["--person", "anna"], ["cuff-1": 2, "old-1": 3]),
        (["--person", "ben"], ["band-1": 3, "cuff-1": 2, "old-1": 3]),
        (["--device", "cuff-1"], ["band-1": 3, "old-1": 3]), (["--device", "old-1"], ["band-1": 3, "cuff-1": 3]),
    ])
    func `erases a person's part of each device, or a whole device, and says that the broker is not reached`(
        options: [String], left: [String: Int]
    ) async throws {
        let result = try await run(options + ["--yes"])
        #expect(result.left == left)
        #expect(result.status == Self.failed)
        #expect(result.errors.contains("  The retained topics at mqtt://127.0.0.1:1"), "\(result.errors)")
        #expect(result.errors.contains("erase again before the gateway starts"))
        #expect(result.errors.components(separatedBy: "Start the broker, or correct mqtt.url.").count == 2)
    }

    @Test func `a stranger, a device that is nowhere, and statistics without a token are refused before anything goes`()
        async throws
    {
        for (options, text) in [
            (["--person", "carla"], "It names anna, ben."),
            (["--device", "none"], "There are: band-1, cuff-1, old-1."),
            (["--device", "A"], "A is no id of a device."),
            (["--person", "anna", "--home-assistant"], "home_assistant.url"),
        ] {
            let result = try await run(options + ["--yes"])
            #expect(result.status == Self.failed)
            #expect(result.errors.contains(text), "\(result.errors)")
            #expect(result.left == Self.all)
        }
    }
}
