import GatewayKit
import GatewayTesting
import Testing
import Vitals

@testable import BlueZ

/// Values that come before the gateway has subscribed. BlueZ has confirmed them, so the device has deleted them.
@Suite(.timeLimit(.minutes(2))) struct EarlyValueTests {
    private static let cuff = BluetoothUUID(0x2a35)
    private static let rate = BluetoothUUID(0x2a37)
    private static let service = BluetoothUUID(0x1810)

    private static func peripheral() -> ScriptedPeripheral {
        ScriptedPeripheral(
            [
                ScriptedService(
                    0x1810,
                    [
                        ScriptedCharacteristic(0x2a35, [.indicate]), ScriptedCharacteristic(0x2a37, [.notify]),
                        ScriptedCharacteristic(0x2a24, .read, [7]),
                    ])
            ], maximumPayload: 100)
    }

    @Test func `records that come before the subscription are told with it, others are not`() async throws {
        try await withClinic { clinic in
            let path = FakeBlueZ.path(Clinic.strap)
            await clinic.bluez.addDevice(Clinic.strap, name: "Cuff") { Self.peripheral() }
            try await clinic.link { link in
                let cuff = try #require(link.characteristic(Self.cuff, in: Self.service))
                let rate = try #require(link.characteristic(Self.rate, in: Self.service))
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: Self.service))
                for number in 1...3 as ClosedRange<UInt8> { await clinic.bluez.tell([number], of: 0x2a35, path) }
                await clinic.bluez.tell([60], of: 0x2a37, path)
                // Its answer comes after them.
                #expect(try await link.read(model) == [7])
                try await link.subscribe(to: rate)
                try await link.subscribe(to: cuff)
                let device = try #require(await clinic.bluez.peripheral(path))
                device.send([4], from: 0x2a35)
                device.send([61], from: 0x2a37)
                var values: [[UInt8]] = []
                for _ in 0..<5 { values.append(try await link.nextValue()?.bytes ?? []) }
                #expect(values == [[1], [2], [3], [4], [61]])
            }
        }
    }

    @Test func `of too many early records the first are told, and the loss is an error in the log`() async throws {
        try await withClinic { clinic in
            let path = FakeBlueZ.path(Clinic.strap)
            await clinic.bluez.addDevice(Clinic.strap, name: "Cuff") { Self.peripheral() }
            try await clinic.link { link in
                let cuff = try #require(link.characteristic(Self.cuff, in: Self.service))
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: Self.service))
                for _ in 0...LinkTraffic.mostEarlyValues { await clinic.bluez.tell([1], of: 0x2a35, path) }
                #expect(try await link.read(model) == [7])
                try await link.subscribe(to: cuff)
                let device = try #require(await clinic.bluez.peripheral(path))
                device.send([2], from: 0x2a35)
                var values: [[UInt8]] = []
                while values.last != [2] { values.append(try await link.nextValue()?.bytes ?? []) }
                #expect(values.count == LinkTraffic.mostEarlyValues + 1)
            }
            #expect(clinic.log.entries.count { $0.message.contains("before its subscription are lost") } == 1)
        }
    }
}
