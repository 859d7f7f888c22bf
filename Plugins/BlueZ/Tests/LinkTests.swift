import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Links to devices of a fake BlueZ on a real bus.
@Suite(.timeLimit(.minutes(2))) struct LinkTests {
    @Test func `a device that advertises is connected, read, written and listened to, and left`() async throws {
        try await withStrap { clinic in
            try await clinic.link { link in
                #expect(link.name == "Strap")
                let device = try #require(await clinic.bluez.peripheral())
                #expect(try await device.violations(of: link) == [])
            }
            #expect(await clinic.bluez.peripheral() == nil)
        }
    }

    @Test func `the value of a read is not taken for one that the device sent`() async throws {
        try await withStrapLink { clinic, link in
            let rate = try #require(link.characteristic(BluetoothUUID(0x2a37), in: BluetoothUUID(0x180d)))
            try await link.subscribe(to: rate)
            let device = try #require(await clinic.bluez.peripheral())
            device.send([0, 60], from: 0x2a37)
            #expect(try await link.read(rate) == [0, 60])
            device.send([0, 61], from: 0x2a37)
            #expect(try await link.nextValue()?.bytes == [0, 60])
            #expect(try await link.nextValue()?.bytes == [0, 61])
        }
    }

    @Test(arguments: [
        (BusError.bluez("NotPermitted", "Not paired"), ATTError.insufficientAuthentication),
        (.bluez("NotPermitted", "Read not permitted"), .readNotPermitted),
        (.bluez("NotSupported"), .requestNotSupported), (.bluez("NotAuthorized"), .insufficientAuthorization),
        (.bluez("InvalidValueLength"), .invalidLength), (.bluez("InProgress"), .procedureInProgress),
        (.bluez("InvalidOffset"), ATTError(code: 7)),
        (.bluez("Failed", "Operation failed with ATT error: 0x80"), ATTError(code: 0x80)),
        (.reply(name: "org.freedesktop.DBus.Error.UnknownObject", message: ""), .invalidHandle),
    ]) func `a refusal is reported as an error of the Attribute Protocol, and the link goes on`(
        error: BusError, expected: ATTError
    ) async throws {
        try await withStrapLink { clinic, link in
            let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: BluetoothUUID(0x180a)))
            await clinic.bluez.fail("ReadValue", error)
            await #expect(throws: GATTError.refused(expected)) { try await link.read(model) }
            #expect(try await link.read(model) == Array("Strap 1".utf8))
        }
    }

    @Test func `a device that disconnects ends its link, and is connected again when it advertises`() async throws {
        try await withStrap { clinic in
            try await clinic.link { link in
                await clinic.bluez.hide()
                await clinic.bluez.disconnect()
                await #expect(throws: LinkError.self) { try await link.nextValue() }
            }
            let connections = clinic.bluez.calls.elements.count { $0.hasPrefix("Connect ") }
            try await clinic.whileLinking {
                // It scans, and does not try to connect what is not there.
                try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                    calls.lastIndex { $0.hasPrefix("StartDiscovery") } ?? 0 > calls.lastIndex {
                        $0.hasPrefix("Disconnect")
                    } ?? 0
                }
                #expect(clinic.bluez.calls.elements.count { $0.hasPrefix("Connect ") } == connections)
                await clinic.bluez.advertise()
            }
            #expect(clinic.bluez.calls.elements.count { $0.hasPrefix("Connect ") } == connections + 1)
        }
    }

    @Test func `a device that the gateway does not wait for is seen by its advertisement`() async throws {
        try await withStrap { clinic in
            let presence = DevicePresence()
            try await clinic.link(presence: presence) { _ in }
            let seen = Promise<Void>()
            presence.whenSeen { seen.fulfil(()) }
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                calls.lastIndex { $0.hasPrefix("StartDiscovery") } ?? 0 > calls.lastIndex { $0.hasPrefix("Disconnect") }
                    ?? 0
            }
            await clinic.bluez.advertise()
            try await seen.wait()
        }
    }
}
