import Concurrency
import GatewayKit
import TestSupport
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

    @Test func `records that come before the subscription are reported with it, others are not`() async throws {
        try await withStrapLink("Cuff", peripheral: { Self.peripheral() }) { clinic, link in
            let cuff = try #require(link.characteristic(Self.cuff, in: Self.service))
            let rate = try #require(link.characteristic(Self.rate, in: Self.service))
            let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: Self.service))
            for number in 1...3 as ClosedRange<UInt8> { await clinic.bluez.notify([number], of: 0x2a35) }
            await clinic.bluez.notify([60], of: 0x2a37)
            // Its answer comes after them.
            #expect(try await link.read(model) == [7])
            try await link.subscribe(to: rate)
            try await link.subscribe(to: cuff)
            let device = try #require(await clinic.bluez.peripheral())
            device.send([4], from: 0x2a35)
            device.send([61], from: 0x2a37)
            var values: [[UInt8]] = []
            for _ in 0..<5 { values.append(try await link.nextValue()?.bytes ?? []) }
            #expect(values == [[1], [2], [3], [4], [61]])
        }
    }

    @Test func `of too many early records the first are reported, and the loss is an error in the log`() async throws {
        try await withStrap("Cuff", peripheral: { Self.peripheral() }) { clinic in
            try await clinic.link { link in
                let cuff = try #require(link.characteristic(Self.cuff, in: Self.service))
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: Self.service))
                for _ in 0...LinkTraffic.mostEarlyValues { await clinic.bluez.notify([1], of: 0x2a35) }
                #expect(try await link.read(model) == [7])
                try await link.subscribe(to: cuff)
                let device = try #require(await clinic.bluez.peripheral())
                device.send([2], from: 0x2a35)
                var values: [[UInt8]] = []
                while values.last != [2] { values.append(try await link.nextValue()?.bytes ?? []) }
                #expect(values.count == LinkTraffic.mostEarlyValues + 1)
            }
            #expect(clinic.log.entries.count { $0.message.contains("before its subscription are lost") } == 1)
        }
    }

    /// The characteristic of the blood pressures.
    private static func cuff(_ link: BlueZLink) throws -> GATTCharacteristic {
        try #require(link.characteristic(cuff, in: service))
    }

    /// The values that come until the link ends.
    private static func values(_ link: BlueZLink) async -> [[UInt8]] {
        var values: [[UInt8]] = []
        while let value = try? await link.nextValue() { values.append(value.bytes) }
        return values
    }

    @Test func `records that come before the subscription are reported also when the device has gone before it`()
        async throws
    {
        try await withStrap("Cuff", peripheral: { Self.peripheral() }) { clinic in
            try await clinic.link { link in
                let rate = try #require(link.characteristic(Self.rate, in: Self.service))
                for number in 1...3 as ClosedRange<UInt8> { await clinic.bluez.notify([number], of: 0x2a35) }
                await clinic.bluez.disconnect()
                let end = try await link.link.ended.wait()
                // A driver gets its values after any other subscription.
                try await link.subscribe(to: rate)
                try await link.subscribe(to: Self.cuff(link))
                await #expect(throws: GATTError.link(end)) { try await link.read(rate) }
                for number in 1...3 as ClosedRange<UInt8> { #expect(try await link.nextValue()?.bytes == [number]) }
                await #expect(throws: end) { try await link.nextValue() }
            }
            #expect(!clinic.log.entries.contains { $0.message.contains("are lost") })
        }
    }

    @Test func `a link that ends without records refuses a subscription`() async throws {
        try await withStrapLink("Cuff", peripheral: { Self.peripheral() }) { clinic, link in
            await clinic.bluez.disconnect()
            let end = try await link.link.ended.wait()
            await #expect(throws: GATTError.link(end)) { try await link.subscribe(to: Self.cuff(link)) }
        }
    }

    @Test func `records of a device that ends the connection as soon as it is made are reported`() async throws {
        try await withStrap("Cuff", peripheral: { Self.peripheral() }) { clinic in
            await clinic.bluez.hurry(Clinic.path, [[1], [2]])
            try await clinic.link { link in
                try await link.subscribe(to: Self.cuff(link))
                #expect(await Self.values(link) == [[1], [2]])
            }
        }
    }

    @Test func `a record that comes while something is read is reported also when the link ends before the answer`()
        async throws
    {
        try await withStrapLink("Cuff", peripheral: { Self.peripheral() }) { clinic, link in
            let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: Self.service))
            try await link.subscribe(to: Self.cuff(link))
            await clinic.bluez.silence("ReadValue")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await #expect(throws: GATTError.self) { try await link.read(model) } }
                try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                    calls.contains { $0.hasPrefix("ReadValue") }
                }
                await clinic.bluez.notify([1], of: 0x2a35)
                await clinic.bluez.disconnect()
                #expect(await Self.values(link) == [[1]])
                try await group.waitForAll()
            }
        }
    }

    @Test func `records that nobody takes are counted in an error in the log`() async throws {
        try await withStrap("Cuff", peripheral: { Self.peripheral() }) { clinic in
            for isEnded in [false, true] {
                await clinic.bluez.advertise()
                try await clinic.link { link in
                    let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: Self.service))
                    for number in 1...3 as ClosedRange<UInt8> { await clinic.bluez.notify([number], of: 0x2a35) }
                    #expect(try await link.read(model) == [7])
                    if isEnded {
                        await clinic.bluez.disconnect()
                        _ = try await link.link.ended.wait()
                    }
                }
            }
            let lost = clinic.log.entries.filter { $0.message.contains("are lost") }
            #expect(lost.map { $0.metadata["records"] } == ["3", "3"])
        }
    }
}
