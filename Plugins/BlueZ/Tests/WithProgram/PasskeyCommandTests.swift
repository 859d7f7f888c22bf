import GatewayKit
import JSON
import MQTT
import TestSupport
import Testing

@testable import BlueZ

/// A passkey by the whole program, over a real broker.
@Suite(.timeLimit(.minutes(5))) struct PasskeyCommandTests {
    private static let timeout = Duration.seconds(90)

    private static func configuration(port: Int, bus: String) -> String {
        """
        gateway: {id: home, timezone: Europe/Berlin}
        log: {level: trace}
        mqtt: {url: "mqtt://127.0.0.1:\(port)"}
        store: {path: vitals.sqlite}
        devices:
          - id: cuff
            driver: gatt-health
            transport: {type: bluez, address: "\(Clinic.strap)", pairing: ask}
        plugins:
          bluez: {bus: "\(bus)"}

        """
    }

    private static func send(_ digits: String, id: String, _ server: MosquittoServer) async throws {
        try await server.publish(
            OutgoingMessage(
                topic: "vitals2mqtt/home/cuff/command/passkey",
                payload: Array("{\"id\":\"\(id)\",\"passkey\":\"\(digits)\"}".utf8)))
    }

    @Test func `a device asks over MQTT and in Home Assistant, and is connected with the passkey`() async throws {
        try await withPrivateBus { bus in
            let bluez = FakeBlueZ(address: bus)
            try await bluez.start()
            try await withMosquitto(MosquittoOptions()) { server in
                try await server.withSubscriber { subscriber in
                    try await withConfiguration(Self.configuration(port: server.port, bus: bus)) { file in
                        try await withPrograms { programs in
                            let gateway = programs.start(GatewayProgram.path, ["run", "--config", file])
                            let message: @Sendable (String, String) async throws -> Void = { topic, text in
                                try await subscriber.wait(deadline: Self.timeout) { messages in
                                    messages.contains { $0.topic.hasSuffix(topic) && $0.text.contains(text) }
                                }
                            }
                            // Home Assistant has the field before the device was ever connected.
                            try await message("vitals2mqtt_home_cuff/config", "cuff/command/passkey")
                            try await message("cuff/pairing", "\"idle\"")
                            try await Self.send("040713", id: "early", server)
                            try await message("cuff/response", "\"conflict\"")
                            await bluez.addDevice(Clinic.strap, name: "Cuff", passkey: 40_713) {
                                ScriptedPeripheral.strap()
                            }
                            try await message("cuff/pairing", "\"passkey\"")
                            try await Self.send("040713", id: "right", server)
                            try await message("cuff/response", "\"id\":\"right\"")
                            try await message("cuff/pairing", "\"paired\"")
                            try await message("cuff/link", "\"connected\"")
                            gateway.interrupt(.end)
                            try await gateway.end(within: Self.timeout)
                            #expect(!gateway.events.elements.contains { $0.text.contains("40713") })
                            let reported = subscriber.messages.filter { !$0.topic.hasSuffix("command/passkey") }
                            #expect(!reported.contains { $0.text.contains("40713") })
                        }
                    }
                }
            }
            await bluez.stop()
        }
    }
}
