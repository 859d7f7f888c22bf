import Foundation
import JSON
import MQTT
import TestSupport
import Testing

/// A phone that exports its database into a folder of a bench, for the device `ring`.
struct PhoneExport: Sendable {
    private let bench: Bench
    let gateway: ChildProgram
    /// What a consumer knows by the messages.
    let consumer = Consumer()

    /// The tables of a Colmi ring and of CMF's running counts.
    static let tables = """
        CREATE TABLE COLMI_HEART_RATE_SAMPLE (TIMESTAMP, DEVICE_ID, USER_ID, HEART_RATE,
            PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID;
        CREATE TABLE COLMI_SLEEP_SESSION_SAMPLE (TIMESTAMP, DEVICE_ID, USER_ID, WAKEUP_TIME,
            PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID;
        CREATE TABLE COLMI_SLEEP_STAGE_SAMPLE (TIMESTAMP, DEVICE_ID, USER_ID, DURATION, STAGE,
            PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID;
        CREATE TABLE CMF_ACTIVITY_SAMPLE (TIMESTAMP, DEVICE_ID, USER_ID, RAW_INTENSITY, STEPS, RAW_KIND, HEART_RATE,
            PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID;
        """

    /// Exports, starts a gateway that reads it, and waits until it has read everything.
    init(_ sql: [String], zone: String = "Europe/Berlin", on bench: Bench) async throws {
        self.bench = bench
        try FileManager.default.createDirectory(atPath: bench.path("phone"), withIntermediateDirectories: false)
        try await Self.write(sql, as: "phone/Gadgetbridge.db", on: bench)
        try bench.configure(["{id: ring, driver: gadgetbridge, options: {path: phone}}"], zone: zone)
        gateway = bench.startGateway()
        try await bench.synced("ring")
    }

    static func write(_ sql: [String], as name: String, on bench: Bench) async throws {
        let program = bench.programs.start(
            "python3", [Repository.fixture("phone_export.py"), bench.path(name), tables] + sql)
        try await program.end(within: Bench.timeout)
        #expect(program.events.elements.last?.text == "ended: exited(0)")
    }

    /// How many exports the gateway has read.
    var exports: Int { Self.exports(gateway.events.elements) }

    private static func exports(_ events: [ChildProgram.Event]) -> Int {
        events.count { $0.text.contains("A new export was read.") }
    }

    /// Waits until the gateway has read this many exports, and published what changed.
    func wait(forExports count: Int) async throws {
        try await gateway.events.wait(within: Bench.timeout) { Self.exports($0) >= count }
        // The samples of a change and those of a synchronisation are stored one after the other.
        let answer = try await bench.command("ring/command/sync", id: "export-\(count)")
        #expect(answer["status"]?.asString == "done", "\(answer)")
    }

    /// Exports anew, and waits until the gateway has read it.
    func export(_ sql: [String]) async throws {
        let before = exports
        try await Self.write(sql, as: "phone/Gadgetbridge.db", on: bench)
        try await wait(forExports: before + 1)
    }

    /// All that arrived; fails if a fact is missing, or samples of a metric did not come in order at first.
    func knowledge() -> Consumer.Knowledge {
        let known = consumer.read(bench.subscriber.messages)
        #expect(known.issues.isEmpty)
        return known
    }
}

extension PhoneExport {
    /// All that arrived, as soon as it is so many samples, of which so many are corrected: they may arrive after the answer to a
    /// synchronisation.
    func knowledge(of samples: Int, corrected: Int = 0) async throws -> Consumer.Knowledge {
        try await bench.subscriber.wait(deadline: Bench.timeout) { [consumer] messages in
            let known = consumer.read(messages)
            return known.samples.count >= samples && (corrected == 0 || known.corrected.count >= corrected)
        }
        return knowledge()
    }
}

extension Consumer.Knowledge {
    /// Revisions above the first one, by start.
    var corrected: [String: Int] {
        samples.values.reduce(into: [:]) { corrected, sample in
            guard let revision = sample["rev"]?.asInt, revision > 1 else { return }
            corrected[sample["start"]?.asString ?? ""] = revision
        }
    }
}
