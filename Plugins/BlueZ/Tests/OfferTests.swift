import Concurrency
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Services of the gateway, which its devices read.
@Suite(.timeLimit(.minutes(2))) struct OfferTests {
    private static let (cuff, scale) = ("A4:C1:38:00:11:22", "A4:C1:38:00:11:23")
    private static let foreign = BusError.bluez("NotPermitted", "It is for other devices.")

    /// The current time, with its own value.
    private static func time(_ value: UInt8) -> [GATTLocalService] {
        let characteristic = GATTLocalCharacteristic(uuid: BluetoothUUID(0x2a2b)) { [1, 2, value] }
        return [GATTLocalService(uuid: BluetoothUUID(0x1805), characteristics: [characteristic])]
    }

    private static func registrations(_ clinic: Clinic) -> Int {
        clinic.bluez.calls.elements.count { $0.hasPrefix("RegisterApplication") }
    }

    @Test func `a service of the gateway is read by its device, and by none that is not the gateway's`() async throws {
        let path = FakeBlueZ.path(Self.cuff)
        try await withClinic { clinic in
            await clinic.bluez.addDevice(Self.cuff, name: "Cuff") { ScriptedPeripheral.strap() }
            try await clinic.link("cuff") { link in
                try await link.serve(Self.time(3))
                #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path) == [1, 2, 3])
                #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path, offset: 2) == [3])
                await #expect(throws: Self.foreign) {
                    try await clinic.bluez.readFromGateway(0x2a2b, by: "/org/bluez/hci0/dev_other")
                }
            }
            await #expect(throws: Self.foreign) { try await clinic.bluez.readFromGateway(0x2a2b, by: path) }
        }
    }

    @Test func `like services of two devices are one, which both of them read`() async throws {
        try await withClinic { clinic in
            for (address, name) in [(Self.cuff, "Cuff"), (Self.scale, "Scale")] {
                await clinic.bluez.addDevice(address, name: name) { ScriptedPeripheral.strap() }
            }
            try await clinic.link("cuff", Clinic.target(Self.cuff)) { cuff in
                try await cuff.serve(Self.time(3))
                try await clinic.link("scale", Clinic.target(Self.scale)) { scale in
                    // It is read as soon as the device is connected.
                    let path = FakeBlueZ.path(Self.scale)
                    #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path) == [1, 2, 3])
                    try await scale.serve(Self.time(4))
                    #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path) == [1, 2, 4])
                    #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: FakeBlueZ.path(Self.cuff)) == [1, 2, 3])
                }
            }
            #expect(Self.registrations(clinic) == 1)
        }
    }

    @Test func `a service is there when its device comes back`() async throws {
        let path = FakeBlueZ.path(Self.cuff)
        try await withClinic { clinic in
            await clinic.bluez.addDevice(Self.cuff, name: "Cuff") { ScriptedPeripheral.strap() }
            try await clinic.link("cuff") { link in try await link.serve(Self.time(3)) }
            try await clinic.link("cuff") { link in
                #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path) == [1, 2, 3])
                try await link.serve(Self.time(5))
                #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path) == [1, 2, 5])
            }
            #expect(Self.registrations(clinic) == 1)
        }
    }

    @Test func `an adapter that was plugged in again offers a service anew`() async throws {
        let path = FakeBlueZ.path(Self.cuff)
        try await withClinic { clinic in
            await clinic.bluez.addDevice(Self.cuff, name: "Cuff") { ScriptedPeripheral.strap() }
            await #expect(throws: LinkError.self) {
                try await clinic.link("cuff") { link in
                    try await link.serve(Self.time(3))
                    await clinic.bluez.removeAdapter("hci0")
                    while try await link.nextValue() != nil {}
                }
            }
            await clinic.bluez.addDevice(Self.cuff, name: "Cuff") { ScriptedPeripheral.strap() }
            await clinic.bluez.addAdapter("hci0")
            _ = try await clinic.log.wait { $0.contains { $0.message == "An adapter is there." } }
            try await clinic.link("cuff") { link in
                try await link.serve(Self.time(4))
                #expect(try await clinic.bluez.readFromGateway(0x2a2b, by: path) == [1, 2, 4])
                #expect(Self.registrations(clinic) == 2)
            }
        }
    }

    @Test func `a service that BlueZ refuses is offered anew the next time`() async throws {
        try await withClinic { clinic in
            await clinic.bluez.addDevice(Self.cuff, name: "Cuff") { ScriptedPeripheral.strap() }
            await clinic.bluez.fail("RegisterApplication", .bluez("Failed", "It is full."))
            try await clinic.link("cuff") { link in
                await #expect(throws: GATTError.self) { try await link.serve(Self.time(3)) }
                try await link.serve(Self.time(3))
                #expect(Self.registrations(clinic) == 2)
            }
        }
    }
}
