import GatewayKit
import Testing

@Suite struct BluetoothTests {
    @Test(arguments: [
        "180d", "180D", "0x180d", "0000180d-0000-1000-8000-00805f9b34fb", "0000180D00001000800000805F9B34FB",
    ])
    func `an identifier has one form, however it is written`(text: String) throws {
        let uuid = try #require(BluetoothUUID(text))
        #expect(uuid == BluetoothUUID(0x180d))
        #expect(uuid.short == 0x180d)
        #expect(uuid.description == "0000180d-0000-1000-8000-00805f9b34fb")
    }

    @Test func `an identifier of somebody else has 128 bits`() throws {
        let uuid = try #require(BluetoothUUID("6e400001-b5a3-f393-e0a9-e50e24dcca9e"))
        #expect(uuid.short == nil)
        #expect(uuid.description == "6e400001-b5a3-f393-e0a9-e50e24dcca9e")
        #expect(BluetoothUUID(0x6e40_0001_b5a3_f393, 0xe0a9_e50e_24dc_ca9e) == uuid)
        for text in [
            "", "180", "180g", "0000180d-0000-1000-8000-00805f9b34f", "+80d", "0x6e400001b5a3f393e0a9e50e24dcca9e0",
        ] {
            #expect(BluetoothUUID(text) == nil, "\(text)")
        }
    }

    @Test func `a refusal says what to do, and becomes an error of the device`() {
        #expect(ATTError.insufficientEncryption.needsPairing)
        #expect(ATTError.insufficientAuthentication.description.contains("pair it"))
        #expect(ATTError(code: 0x8a).description.contains("0x8a"))
        #expect(ATTError(code: 0x80).isOfService && !ATTError.outOfRange.isOfService)
        #expect(DeviceError(.refused(.outOfRange), "The interval").code == .invalid)
        #expect(DeviceError(.refused(.procedureInProgress), "The records").code == .busy)
        #expect(DeviceError(.refused(.insufficientAuthentication), "The records").code == .failure)
        #expect(DeviceError(.link(LinkError(.broken, "It broke.")), "The records").code == .disconnected)
        #expect(DeviceError(.link(LinkError(.timeout, "Silence.")), "The records").code == .timeout)
    }

    @Test func `a queue of values that is full ends with an error after the values`() async throws {
        let characteristic = GATTCharacteristic(
            service: BluetoothUUID(0x180d), uuid: BluetoothUUID(0x2a37), handle: 3, properties: .notify)
        let queue = GATTValueQueue(capacity: 2)
        func value(_ byte: UInt8) -> GATTValue { GATTValue(characteristic: characteristic, bytes: [byte]) }
        #expect(queue.add(value(1)))
        #expect(queue.add(value(2)))
        #expect(try await queue.next() == value(1))
        #expect(queue.add(value(3)))
        #expect(!queue.add(value(4)))
        #expect(!queue.add(value(5)))
        #expect(try await queue.next() == value(2))
        #expect(try await queue.next() == value(3))
        await #expect { try await queue.next() } throws: { ($0 as? LinkError)?.code == .broken }
    }

    @Test func `a queue gives many values in their order`() async throws {
        let characteristic = GATTCharacteristic(
            service: BluetoothUUID(0x180d), uuid: BluetoothUUID(0x2a37), handle: 3, properties: .notify)
        let queue = GATTValueQueue()
        for number in 0..<GATTValueQueue.capacity {
            let bytes = [UInt8(number & 0xff), UInt8(number >> 8)]
            #expect(queue.add(GATTValue(characteristic: characteristic, bytes: bytes)))
        }
        queue.finish()
        for number in 0..<GATTValueQueue.capacity {
            #expect(try await queue.next()?.bytes == [UInt8(number & 0xff), UInt8(number >> 8)])
        }
        #expect(try await queue.next() == nil)
    }
}
