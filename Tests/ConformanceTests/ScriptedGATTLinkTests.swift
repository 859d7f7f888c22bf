import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct ScriptedGATTLinkTests {
    private let strap = ScriptedPeripheral(
        [
            ScriptedService(0x180d, [ScriptedCharacteristic(0x2a37, .notify), ScriptedCharacteristic(0x2a39, .write)]),
            ScriptedService(0x180f, [ScriptedCharacteristic(0x2a19, [.read, .notify], [88])]),
        ],
        onWrite: { (strap, write) throws(ATTError) in
            guard write.bytes != [9] else { throw .valueNotAllowed }
            strap.send(write.bytes.reversed(), from: 0x2a37)
        }, onSubscribe: { strap, _ in strap.send([7], from: 0x2a37) })

    @Test func `has the services of its table`() throws {
        #expect(strap.link.services.map(\.uuid) == [BluetoothUUID(0x180d), BluetoothUUID(0x180f)])
        let rate = try #require(strap.link.characteristic(BluetoothUUID(0x2a37), in: BluetoothUUID(0x180d)))
        #expect(rate.uuid.description == "00002a37-0000-1000-8000-00805f9b34fb")
        #expect(rate.service == BluetoothUUID(0x180d))
        #expect(strap.link.characteristic(BluetoothUUID(0x2a37), in: BluetoothUUID(0x180f)) == nil)
        #expect(Set(strap.services.flatMap(\.characteristics).map(\.handle)).count == 3)
    }

    @Test func `gives its values, and fails where it was asked to`() async throws {
        let battery = try #require(strap.characteristic(0x2a19))
        #expect(try await strap.link.read(battery) == [88])
        strap.setValue([87], of: battery)
        #expect(try await strap.link.read(battery) == [87])
        strap.fail(battery, with: .refused(.insufficientAuthentication))
        await #expect(throws: GATTError.refused(.insufficientAuthentication)) { try await strap.link.read(battery) }
        let rate = try #require(strap.characteristic(0x2a37))
        await #expect(throws: GATTError.refused(.readNotPermitted)) { try await strap.link.read(rate) }
    }

    @Test func `reacts to a subscription and to writes, and refuses what a device refuses`() async throws {
        let rate = try #require(strap.characteristic(0x2a37))
        let point = try #require(strap.characteristic(0x2a39))
        try await strap.link.write([1, 2], to: point, .withResponse)
        try await strap.link.subscribe(to: rate)
        try await strap.link.subscribe(to: rate)
        try await strap.link.write([3, 4], to: point, .withResponse)
        #expect(strap.writes.map(\.bytes) == [[1, 2], [3, 4]])
        #expect(try await strap.link.nextValue() == GATTValue(characteristic: rate, bytes: [7]))
        #expect(try await strap.link.nextValue() == GATTValue(characteristic: rate, bytes: [4, 3]))
        await #expect(throws: GATTError.refused(.valueNotAllowed)) {
            try await strap.link.write([9], to: point, .withResponse)
        }
        await #expect(throws: GATTError.refused(.writeNotPermitted)) {
            try await strap.link.write([1], to: point, .withoutResponse)
        }
        await #expect(throws: GATTError.refused(.invalidLength)) {
            try await strap.link.write(Array(repeating: 0, count: 513), to: point, .withResponse)
        }
        try await strap.link.unsubscribe(from: rate)
        #expect(!strap.send([1], from: rate))
    }

    @Test func `values that were sent come before the end of the connection`() async throws {
        let rate = try #require(strap.characteristic(0x2a37))
        try await strap.link.subscribe(to: rate)
        strap.disconnect()
        #expect(!strap.send([2], from: rate))
        #expect(try await strap.link.nextValue()?.bytes == [7])
        #expect(try await strap.link.nextValue() == nil)
        await #expect(throws: GATTError.self) { try await strap.link.read(rate) }
    }

    @Test func `waits that are cancelled end, also those for a silent device`() throws {
        try Simulation.run(seed: 1, deadline: .seconds(1)) { _ in
            let battery = try #require(strap.characteristic(0x2a19))
            strap.fallSilent()
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await strap.link.nextValue() }
                group.addTask { _ = try await strap.link.read(battery) }
                for _ in 0..<20 { await Task.yield() }
                group.cancelAll()
                await #expect(throws: (any Error).self) { try await group.next() }
                await #expect(throws: (any Error).self) { try await group.next() }
            }
        }
    }

    @Test func `a seed decides what is cut, what is garbage, and when the connection is lost`() async throws {
        func run() async throws -> [[UInt8]] {
            let faulty = ScriptedPeripheral(
                [ScriptedService(0x180d, [ScriptedCharacteristic(0x2a37, .notify)])],
                faults: GATTFaults(breaksAfter: 60, cut: 200, garbage: 200), random: SplitMix64(seed: 4))
            let rate = try #require(faulty.characteristic(0x2a37))
            try await faulty.link.subscribe(to: rate)
            for _ in 0..<100 { faulty.send([1, 2, 3, 4], from: rate) }
            var values: [[UInt8]] = []
            await #expect(throws: LinkError.self) {
                while let value = try await faulty.link.nextValue() { values.append(value.bytes) }
            }
            return values
        }
        let values = try await run()
        #expect(values.contains([1, 2, 3, 4]) && values.contains { $0 != [1, 2, 3, 4] })
        #expect(try await run() == values)
    }

    @Test func `reads what the gateway serves`() async throws {
        let time = GATTLocalCharacteristic(uuid: BluetoothUUID(0x2a2b)) { [1, 2] }
        try await strap.link.serve([GATTLocalService(uuid: BluetoothUUID(0x1805), characteristics: [time])])
        #expect(strap.readFromGateway(BluetoothUUID(0x2a2b)) == [1, 2])
        #expect(strap.readFromGateway(BluetoothUUID(0x2a2c)) == nil)
    }
}
