import GatewayKit
import GatewayTesting
import JSON
import MQTT
import TestSupport
import Testing

@testable import BlueZ

/// Scans by the whole program: over a real broker, and as a separate command.
@Suite(.timeLimit(.minutes(5))) struct ScanCommandTests {
    private static let timeout = Duration.seconds(90)
    private static let ring = "30:35:47:00:11:22"

    private static func configuration(port: Int, bus: String, hasStrap: Bool = true) -> String {
        let strap = """
            devices:
              - {id: strap, name: Strap, driver: gatt-health, transport: {type: bluez, address: "\(Clinic.strap)"}}
            """
        return """
            gateway: {id: home, timezone: Europe/Berlin}
            mqtt: {url: "mqtt://127.0.0.1:\(port)"}
            store: {path: vitals.sqlite}
            home_assistant: {discovery: "off"}
            \(hasStrap ? strap : "devices: []")
            plugins:
              bluez: {bus: "\(bus)"}

            """
    }

    /// A bus with a strap, a ring that advertises only its name, and a lamp.
    private static func withHouse(_ body: (String, FakeBlueZ) async throws -> Void) async throws {
        try await withPrivateBus { address in
            let bluez = FakeBlueZ(address: address)
            try await bluez.start()
            let services = BusValue.array(of: "s", [.string("0000180d-0000-1000-8000-00805f9b34fb")])
            await bluez.addDevice(Clinic.strap, name: "Strap", properties: ["UUIDs": services]) {
                ScriptedPeripheral.strap()
            }
            await bluez.addDevice(ring, name: "R02_1122") { ScriptedPeripheral.strap() }
            await bluez.addDevice("10:00:00:00:00:01", name: "Lamp") { ScriptedPeripheral.strap() }
            try await body(address, bluez)
            await bluez.stop()
        }
    }

    /// The answer to a scan over the broker.
    private static func scan(
        _ id: String, _ server: MosquittoServer, _ subscriber: Subscriber
    ) async throws -> JSONValue {
        try await server.publish(
            OutgoingMessage(
                topic: "vitals2mqtt/home/gateway/command/scan",
                payload: Array("{\"id\":\"\(id)\",\"duration_s\":1}".utf8)))
        let isAnswer: @Sendable (InboundMessage) -> Bool = { message in
            message.topic == "vitals2mqtt/home/gateway/response" && message.text.contains("\"\(id)\"")
        }
        let messages = try await subscriber.wait(deadline: timeout) { $0.contains(where: isAnswer) }
        return try JSONValue(parsing: try #require(messages.first(where: isAnswer)).payload)
    }

    private static func list(_ answer: JSONValue) -> [String: JSONValue] {
        let devices = answer["data"]?["devices"]?.asArray ?? []
        return Dictionary(devices.map { ($0["name"]?.asString ?? "", $0) }) { $1 }
    }

    @Test func `a running gateway says what is near, which driver it is for, and which device it is`() async throws {
        try await Self.withHouse { bus, bluez in
            try await withMosquitto(MosquittoOptions()) { server in
                try await server.withSubscriber { subscriber in
                    try await withConfiguration(Self.configuration(port: server.port, bus: bus)) { file in
                        try await withPrograms { programs in
                            let gateway = programs.start(GatewayProgram.path, ["run", "--config", file])
                            try await subscriber.wait(deadline: Self.timeout) { messages in
                                messages.contains { message in
                                    message.topic.hasSuffix("strap/link") && message.text.contains("\"connected\"")
                                }
                            }
                            let answer = try await Self.scan("first", server, subscriber)
                            #expect(answer["status"]?.asString == "done")
                            let found = Self.list(answer)
                            #expect(found.count == 3)
                            #expect(found["Strap"]?["device"]?.asString == "strap")
                            #expect(found["Strap"]?["connected"]?.asBool == true)
                            #expect(found["R02_1122"]?["driver"]?.asString == "colmi-ring")
                            #expect(found["R02_1122"]?["claims"]?.asArray?.first?["by"]?.asString == "name")
                            #expect(found["R02_1122"]?["signal_dbm"]?.asInt.map { (-61 ... -60).contains($0) } == true)
                            #expect(found["R02_1122"]?["transport"]?["address"]?.asString == Self.ring)
                            #expect(found["Lamp"]?["driver"]?.isNull == true)
                            await bluez.removeAdapter("hci0")
                            let refused = try await Self.scan("second", server, subscriber)
                            #expect(refused["status"]?.asString == "failed")
                            #expect(refused["code"]?.asString == "offline")
                            #expect(refused["message"]?.asString?.contains("Plug it in") == true)
                            gateway.interrupt(.end)
                            try await gateway.end(within: Self.timeout)
                        }
                    }
                }
            }
        }
    }

    @Test func `a gateway without a device opens Bluetooth for the scan only`() async throws {
        try await Self.withHouse { bus, bluez in
            try await withMosquitto(MosquittoOptions()) { server in
                try await server.withSubscriber { subscriber in
                    let text = Self.configuration(port: server.port, bus: bus, hasStrap: false)
                    try await withConfiguration(text) { file in
                        try await withPrograms { programs in
                            _ = programs.start(GatewayProgram.path, ["run", "--config", file])
                            try await subscriber.wait(deadline: Self.timeout) { messages in
                                messages.contains { $0.topic.hasSuffix("gateway/info") }
                            }
                            for id in ["first", "second"] {
                                let found = Self.list(try await Self.scan(id, server, subscriber))
                                #expect(found["Strap"]?["driver"]?.asString == "gatt-health")
                                #expect(found["Strap"]?["device"]?.isNull == true)
                            }
                            // The connection that was opened for it is closed.
                            #expect(bluez.calls.elements.count { $0 == "StartDiscovery hci0" } == 2)
                        }
                    }
                }
            }
        }
    }

    /// Runs the command to its end: its lines, and its status as text.
    private static func run(
        _ name: String, _ arguments: [String]
    ) async throws -> (lines: [String], status: String) {
        let command = ChildProgram(GatewayProgram.path, [name, "--seconds", "1"] + arguments)
        await command.run()
        let events = command.events.elements
        return (events.filter { !$0.isEnd }.map(\.text), events.last?.text ?? "")
    }

    @Test func `the command lists what is near without a gateway, for people and for programs`() async throws {
        try await Self.withHouse { bus, bluez in
            try await withConfiguration(Self.configuration(port: 1, bus: bus)) { file in
                let people = try await Self.run("scan", ["--config", file])
                #expect(people.lines.first?.hasPrefix("SIGNAL") == true, "\(people)")
                #expect(
                    people.lines.contains {
                        $0.contains(Clinic.strap) && $0.contains("gatt-health (by its services)")
                            && $0.hasSuffix("is strap")
                    }, "\(people)")
                #expect(people.lines.contains { $0.contains("R02_1122") && $0.contains("colmi-ring (by its name)") })
                let programs = try await Self.run("scan", ["--config", file, "--json"])
                let json = try JSONValue(parsing: Array(try #require(programs.lines.first).utf8))
                #expect(json["devices"]?.asArray?.count == 3)
                await bluez.removeAdapter("hci0")
                let refused = try await Self.run("scan", ["--config", file])
                #expect(refused.lines.contains { $0.contains("There is no Bluetooth adapter. Plug it in") })
                #expect(refused.status.contains("1"), "\(refused)")
            }
        }
    }

    @Test func `add prints the entry of a device in reach, without a terminal, and refuses one with errors`()
        async throws
    {
        try await Self.withHouse { bus, _ in
            try await withConfiguration(Self.configuration(port: 1, bus: bus)) { file in
                let ring = ["--config", file, "--device", "R02_1122"]
                let added = try await Self.run("add", ring + ["--transport", "connection=periodic"])
                let entry = added.lines.drop { !$0.hasPrefix("  - id") }.joined(separator: "\n")
                #expect(
                    entry == """
                          - id: r02-1122
                            name: R02_1122
                            driver: colmi-ring
                            transport:
                              type: bluez
                              address: "\(Self.ring)"
                              connection: periodic
                        """, "\(added)")
                #expect(added.status.contains("0"), "\(added)")
                let twice = try await Self.run("add", ring + ["--id", "strap"])
                #expect(twice.lines.contains { $0.contains("has the id strap already") }, "\(twice)")
                #expect(twice.status.contains("78"), "\(twice)")
                let lamp = try await Self.run("add", ["--config", file, "--device", "Lamp"])
                #expect(lamp.lines.contains { $0.contains("No driver recognises the device") }, "\(lamp)")
                #expect(lamp.status.contains("1"))
            }
        }
    }

    @Test func `without a bus the command says so`() async throws {
        try await withConfiguration(Self.configuration(port: 1, bus: "unix:path=/nowhere/bus")) { file in
            let refused = try await Self.run("scan", ["--config", file])
            let remedy = "Start it: systemctl start dbus."
            #expect(
                refused.lines.contains { $0.contains("Bluetooth needs D-Bus") && $0.contains(remedy) }, "\(refused)")
            #expect(refused.status.contains("1"))
        }
    }
}
