import Foundation
import GatewayKit
import JSON
import MQTT
import TestSupport
import Testing

@testable import BlueZ

/// The whole gateway, as its program: a strap of the fake BlueZ, the driver for health services, and a real broker.
@Suite(.timeLimit(.minutes(5))) struct GatewayTests {
    private static let timeout = Duration.seconds(90)

    private static func configuration(_ port: Int, _ bus: String) -> String {
        """
        gateway: {id: home, timezone: Europe/Berlin}
        mqtt: {url: "mqtt://127.0.0.1:\(port)"}
        store: {path: vitals.sqlite}
        home_assistant: {discovery: "off"}
        devices:
          - {id: strap, name: Strap, driver: gatt-health, transport: {type: bluez, address: "\(Clinic.strap)"}}
        plugins:
          bluez: {bus: "\(bus)"}

        """
    }

    @Test func `what a strap measures goes to the broker, also after BlueZ has ended and returned`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vitals2mqtt-bluez-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "gateway.yaml").path(percentEncoded: false)
        try await withPrivateBus { address in
            let bluez = FakeBlueZ(address: address)
            try await bluez.start()
            await bluez.addDevice(Clinic.strap, name: "Strap") { ScriptedPeripheral.strap() }
            try await withMosquitto(MosquittoOptions()) { server in
                try await server.withSubscriber(session: "witness") { subscriber in
                    try await withPrograms { programs in
                        try Self.configuration(server.port, address).write(
                            toFile: file, atomically: true, encoding: .utf8)
                        let gateway = programs.start(GatewayProgram.path, ["run", "--config", file])
                        for (round, rate) in [UInt8(71), 72].enumerated() {
                            try await bluez.calls.wait(within: Self.timeout) { calls in
                                calls.count { $0.hasPrefix("StartNotify") } > round
                            }
                            // The value is lost if the device does not know of the subscription yet.
                            while await bluez.peripheral()?.send([0x06, rate], from: 0x2a37) != true {
                                await Task.yield()
                            }
                            let messages = try await subscriber.wait(deadline: Self.timeout) { messages in
                                messages.contains { $0.rates.contains(Int(rate)) }
                            }
                            #expect(messages.contains { $0.topic == "vitals2mqtt/home/strap/measurement/heart_rate" })
                            if round == 0 {
                                try await subscriber.wait(deadline: Self.timeout) { messages in
                                    messages.contains {
                                        $0.topic.hasSuffix("strap/info") && $0.text.contains("Strap 1")
                                    }
                                }
                                await bluez.stop()
                                try await subscriber.wait(deadline: Self.timeout) { messages in
                                    messages.contains { $0.topic.hasSuffix("strap/link") && $0.text.contains("BlueZ") }
                                }
                                try await bluez.start()
                                await bluez.addDevice(Clinic.strap, name: "Strap") { ScriptedPeripheral.strap() }
                            }
                        }
                        gateway.interrupt(.end)
                        try await gateway.end(within: Self.timeout)
                        // It has left the device.
                        #expect(await bluez.peripheral() == nil)
                    }
                }
            }
            await bluez.stop()
        }
    }
}

extension InboundMessage {
    /// The heart rates of a message.
    fileprivate var rates: [Int] {
        guard topic.hasSuffix("/measurement/heart_rate"), let json = try? JSONValue(parsing: payload) else { return [] }
        return (json["samples"]?.asArray ?? []).compactMap { $0["value"]?.asInt }
    }
}
