import Foundation
import GatewayKit
import GatewayTesting
import MQTT
import Mosquitto
import Store
import TestSupport
import Testing
import Vitals

@testable import Gateway

@Suite(.timeLimit(.minutes(2))) struct DoctorTests {
    /// What is found with a configuration and a real mosquitto.
    private func report(
        _ rest: String, in folder: String, on options: MosquittoOptions = MosquittoOptions(), mqtt: String = "",
        url: String? = nil
    ) async throws -> DoctorReport {
        let box = Recorder<DoctorReport>()
        try await withMosquitto(options) { server in
            let url = url ?? "mqtt://127.0.0.1:\(server.port)"
            let file = try write("mqtt: {url: \"\(url)\"\(mqtt)}\n\(rest)", to: "c.yaml", in: folder)
            let loader = ConfigurationLoader(plugins: TestPlugin.catalogue, environment: ["PW": "wrong"])
            box.append(await Doctor(of: file, with: loader).report())
        }
        return try #require(box.elements.first)
    }

    private func withRoom(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    private func of(_ subject: String, _ report: DoctorReport) -> [Finding] {
        report.findings.filter { $0.subject == subject }
    }

    private let toy = "store: {path: new.sqlite}\ndevices: [{id: a, driver: toy}]\n"

    @Test func `where all is there, nothing is a problem, and nothing was made`() async throws {
        try await withRoom { folder in
            let report = try await report(toy, in: folder)
            #expect(report.isSound, "\(report.text)")
            #expect(of("broker", report).map(\.severity) == [.fine])
            #expect(of("store", report).map(\.text) == ["\(folder)/new.sqlite will be made when the gateway runs."])
            #expect(of("disk", report).count == 1)
            #expect(of("clock", report).count == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["c.yaml"])
        }
    }

    @Test func `a library that a broker can end the program with is a warning, except with MQTT 3.1.1`() async throws {
        try await withRoom { folder in
            for (mqtt, version) in [("", MQTTVersion?.none), (", protocol: 5", .v5), (", protocol: 3.1.1", .v311)] {
                let report = try await report(toy, in: folder, mqtt: mqtt)
                let notices = [LibraryVersion.loaded.notice(for: version)].compactMap(\.self)
                #expect(of("library", report).map(\.text) == notices)
                #expect(report.isSound && of("broker", report).map(\.severity) == [.fine], "\(report.text)")
            }
        }
    }

    @Test func `errors of the configuration are problems, each with its line, and end the check`() async throws {
        try await withRoom { folder in
            let report = try await report("devices: [{id: a, driver: none}]\nstor: 1\n", in: folder)
            #expect(!report.isSound)
            #expect(report.findings.allSatisfy { $0.subject == "configuration" && $0.severity == .problem })
            #expect(report.text.contains("c.yaml:3: stor:"))
        }
    }

    @Test func `a broker that is not there, refuses the password, or the commands, is reported with the remedy`()
        async throws
    {
        try await withRoom { folder in
            let port = try freePort()
            let unreachable = try await report(toy, in: folder, url: "mqtt://127.0.0.1:\(port)")
            #expect(of("broker", unreachable).map(\.severity) == [.problem])
            #expect(unreachable.text.contains("Start the broker, or correct mqtt.url."))
            let said = try #require(of("broker", unreachable).first?.text)
            #expect(said.components(separatedBy: "mqtt://127.0.0.1:\(port)").count == 2, "\(said)")
            #expect(said.components(separatedBy: "Start the broker").count == 2, "\(said)")
            let users = MosquittoOptions(users: ["vitals": "right"])
            let refused = try await report(
                toy, in: folder, on: users, mqtt: ", username: vitals, password: {env: PW}")
            #expect(!refused.isSound)
            #expect(of("broker", refused).first?.text.contains("mqtt.password") == true, "\(refused.text)")
        }
    }

    @Test(arguments: ["3.1.1", "5"])
    func `a broker that drops what the gateway publishes is a problem, with the topics`(version: String) async throws {
        try await withRoom { folder in
            // The shipped list, for other names.
            let rules = [
                "topic readwrite vitals2mqtt/+/gateway/response", "topic read health/#",
                "topic readwrite homeassistant/device/+/config",
            ]
            let topics = ", base_topic: health, protocol: \"\(version)\""
            let options = MosquittoOptions(accessList: rules, lines: [MosquittoOptions.endsNoRefusedPublisher])
            let base = try await report(toy, in: folder, on: options, mqtt: topics)
            #expect(of("broker", base).map(\.severity) == [.problem], "\(base.text)")
            #expect(base.text.contains("publishes at health/home/gateway/response"), "\(base.text)")
            #expect(base.text.contains("in the broker's access list."))
            let prefix = try await report(
                toy + "home_assistant: {prefix: ha}\n", in: folder, on: options, mqtt: ", protocol: \"\(version)\"")
            #expect(of("broker", prefix).map(\.severity) == [.problem], "\(prefix.text)")
            #expect(prefix.text.contains("publishes at ha/device/vitals2mqtt_home_Doctor/config"), "\(prefix.text)")
        }
    }

    @Test
    func `another store's gateway that is online at the same topics is a problem, and one that is offline is none`()
        async throws
    {
        try await withRoom { folder in
            for (status, severity) in [("online", Finding.Severity.problem), ("offline", .fine)] {
                let box = Recorder<DoctorReport>()
                try await withMosquitto(MosquittoOptions()) { server in
                    for (topic, text) in [
                        ("status", status), ("info", #"{"schema":"vitals2mqtt.gateway_info/1","store":"a-b-c"}"#),
                    ] {
                        try await server.publish(
                            OutgoingMessage(
                                topic: "vitals2mqtt/home/gateway/\(topic)", payload: Array(text.utf8), isRetained: true)
                        )
                    }
                    let text = "mqtt: {url: \"mqtt://127.0.0.1:\(server.port)\"}\n\(toy)"
                    let file = try write(text, to: "c.yaml", in: folder)
                    box.append(
                        await Doctor(of: file, with: ConfigurationLoader(plugins: TestPlugin.catalogue)).report())
                }
                let report = try #require(box.elements.first)
                #expect(of("broker", report).map(\.severity) == [severity], "\(report.text)")
                #expect(report.text.contains("with the store a-b-c") == (severity == .problem))
            }
        }
    }

    @Test func `an address that another program has is a problem, unless the gateway runs`() async throws {
        try await withRoom { folder in
            let port = try freePort()
            let web = toy + "web: {listen: \"127.0.0.1:\(port)\"}\n"
            let free = try await report(web, in: folder)
            #expect(of("web", free) == [Finding(.fine, "web", "127.0.0.1:\(port) is free.")])
            let box = Recorder<DoctorReport>()
            try await withMosquitto(MosquittoOptions()) { server in
                let url = "mqtt://127.0.0.1:\(server.port)"
                let text = "mqtt: {url: \"\(url)\"}\n\(toy)web: {listen: \"127.0.0.1:\(server.port)\"}\n"
                let file = try write(text, to: "c.yaml", in: folder)
                let doctor = Doctor(of: file, with: ConfigurationLoader(plugins: TestPlugin.catalogue))
                box.append(await doctor.report())
                let store = try SQLiteStore(
                    path: "\(folder)/new.sqlite", options: StoreOptions(), now: Timestamp(milliseconds: 0),
                    newIdentity: SampleID(high: 1, low: 2), onCommit: { _ in })
                box.append(await doctor.report())
                try await store.close()
            }
            #expect(box.elements.map { of("web", $0).map(\.severity) } == [[.problem], [.fine]])
            #expect(box.elements.first?.text.contains("another program listens there") == true)
        }
    }

    @Test func `a store that is damaged, of another program or without a folder is reported`() async throws {
        try await withRoom { folder in
            let missing = try await report(
                "store: {path: none/a.sqlite}\ndevices: [{id: a, driver: toy}]\n", in: folder)
            #expect(of("store", missing).map(\.severity) == [.problem])
            #expect(of("store", missing).first?.text.contains("Create it") == true)
            try write("no database, but long enough to be one", to: "new.sqlite", in: folder)
            let foreign = try await report(toy, in: folder)
            #expect(of("store", foreign).map(\.severity) == [.warning])
        }
    }

    @Test func `what a plugin finds of the things that its devices share is in the report`() async throws {
        try await withRoom { folder in
            let text = """
                store: {path: new.sqlite}
                devices: [{id: a, driver: ring, transport: {type: radio, channel: 7}}]
                plugins: {test: {height: 3}}

                """
            let report = try await report(text, in: folder)
            #expect(of("antenna", report).map(\.text) == ["It is 3 m high. Make it higher."])
            #expect(!report.isSound)
        }
    }

    @Test func `what a driver finds of its device is in the report`() async throws {
        try await withRoom { folder in
            let ring = "driver: ring, transport: {type: radio}"
            let text = """
                store: {path: new.sqlite}
                devices: [{id: a, \(ring)}, {id: b, \(ring), options: {size: 3}, sync: {first: all}}]

                """
            let report = try await report(text, in: folder)
            #expect(of("a", report) == [Finding(.warning, "a", "It has size 10, and is read in part.")])
            #expect(of("b", report) == [Finding(.warning, "b", "It has size 3, and is read whole.")])
            #expect(report.isSound)
        }
    }

    @Test func `what devices could share is checked before there is a device, if it has a section`() async throws {
        try await withRoom { folder in
            let without = try await report(toy, in: folder)
            #expect(of("antenna", without).isEmpty)
            let named = try await report(toy + "plugins: {test: {height: 4}}\n", in: folder)
            #expect(of("antenna", named).map(\.text) == ["It is 4 m high. Make it higher."])
            #expect(of("configuration", named).last?.text.contains("No device uses test") == true)
        }
    }
}

@Suite struct DoctorFindingTests {
    @Test(arguments: [
        (DiskSpace.least - 1, Int?.none, Finding.Severity.problem), (DiskSpace.least, nil, .warning),
        (DiskSpace.comfortable - 1, 7, .warning), (DiskSpace.comfortable, 7, .fine), (1 << 40, 0, .problem),
    ]) func `little room is a warning, and none a problem`(bytes: Int, files: Int?, severity: Finding.Severity) {
        #expect(DiskSpace(bytes: bytes, files: files).finding(in: "/a").severity == severity)
    }

    @Test func `a folder that is missing has no room to report`() { #expect(DiskSpace(of: "/nowhere/a") == nil) }

    @Test(arguments: [
        (2026, Bool?.some(true), Finding.Severity.fine), (2026, false, .warning), (2026, nil, .fine),
        (1970, true, .problem),
    ]) func `a date that cannot be is a problem, and one that nobody keeps right a warning`(
        year: Int, isSynchronised: Bool?, severity: Finding.Severity
    ) throws {
        let now = Timestamp(seconds: Int64(year - 1970) * 31_557_600)
        let calendar = try #require(LocalCalendar(identifier: "Europe/Berlin"))
        #expect(ClockState(now: now, isSynchronised: isSynchronised).finding(in: calendar).severity == severity)
    }

    @Test func `the report has a line for each finding, and counts the problems`() {
        let findings = [Finding(.fine, "clock", "Right."), Finding(.problem, "broker", "Offline. Start it.")]
        #expect(
            DoctorReport(findings).text == """
                ok    clock   Right.
                FAIL  broker  Offline. Start it.
                1 problem. The gateway does not work as it should.

                """)
        #expect(DoctorReport([Finding(.fine, "clock", "Right.")]).text.hasSuffix("All is well.\n"))
        let warned = DoctorReport([Finding(.warning, "disk", "Full.")])
        #expect(warned.isSound && warned.text.hasSuffix("See the warnings.\n"))
    }

    @Test func `every failure of a broker has a remedy`() {
        for code in BrokerError.Code.allCases { #expect(BrokerError(code, "").remedy.hasSuffix(".")) }
    }

    @Test func `an error of the broker says once what to do, also if it says so itself`() {
        let remedy = "Start the broker, or correct mqtt.url."
        #expect(BrokerError(.unreachable, "It is off. \(remedy)").advice == "It is off. \(remedy)")
        #expect(BrokerError(.unreachable, "It is off.").advice == "It is off. \(remedy)")
    }
}
