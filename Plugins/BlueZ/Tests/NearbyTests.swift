import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Scans for people, beside the gateway's own.
@Suite(.timeLimit(.minutes(2))) struct NearbyTests {
    private static let moment: Duration = .milliseconds(1)
    /// Not stored: the leak checker finds no indirect case in a constant.
    private static var heartRate: BusValue { .array(of: "s", [.string("0000180d-0000-1000-8000-00805f9b34fb")]) }

    private static func error(_ clinic: Clinic) async -> LinkError? {
        do {
            _ = try await clinic.radio.nearby(for: moment)
            return nil
        } catch { return error }
    }

    @Test func `a scan lists what is heard, with name, address, signal and services, and ends`() async throws {
        try await withClinic { clinic in
            await clinic.bluez.addDevice(Clinic.strap, name: "Strap", properties: ["UUIDs": Self.heartRate]) {
                ScriptedPeripheral.strap()
            }
            let found = try await clinic.radio.nearby(for: Self.moment)
            #expect(
                found == [
                    NearbyDevice(
                        address: Clinic.strap, name: "Strap", services: [BluetoothUUID(0x180d)], signalStrength: -60,
                        options: [.init("address", Clinic.strap)])
                ])
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.last == "StopDiscovery hci0" }
        }
    }

    @Test func `a scan hears what advertises later, and keeps what has gone since`() async throws {
        let clock = ManualClock()
        try await withClinic(clock: clock.gatewayClock) { clinic in
            async let found = clinic.radio.nearby(for: .seconds(7))
            try await clock.deadlines.wait(within: Clinic.timeout) { $0.contains(.seconds(7)) }
            await clinic.bluez.addDevice(
                Clinic.strap, name: "Strap", properties: ["ServiceData": .options(["180d": .bytes([1])])]
            ) {
                ScriptedPeripheral.strap()
            }
            let other = FakeBlueZ.path("A4:C1:38:00:11:33")
            await clinic.bluez.addDevice("A4:C1:38:00:11:33", name: "Band") { ScriptedPeripheral.strap() }
            await clinic.bluez.remove(other)
            await clinic.bluez.hide(other)
            // An answer comes after all earlier signals.
            _ = try await clinic.radio.call("/org/bluez/hci0", BlueZ.adapter, "SetDiscoveryFilter")
            try await clock.move(to: .seconds(7))
            let names = try await found.map { $0.name ?? "" }.sorted()
            #expect(names == ["Band", "Strap"])
            #expect(try await found.first { $0.name == "Strap" }?.services == [BluetoothUUID(0x180d)])
        }
    }

    @Test func `a scan shares that of a device that is waited for, names it, and lists one that is connected`()
        async throws
    {
        try await withStrap { clinic in
            try await clinic.link { _ in
                let waiting = Task { try await clinic.link("band", Clinic.target("A4:C1:38:00:11:33")) { _ in } }
                defer { waiting.cancel() }
                await clinic.bluez.hide()
                let found = try await clinic.radio.nearby(for: Self.moment)
                #expect(found.map(\.device) == [try Clinic.id("strap")])
                #expect(found.first?.isConnected == true)
                // The scan continues for the device.
                await clinic.bluez.addDevice("A4:C1:38:00:11:33", name: "Band") { ScriptedPeripheral.strap() }
                try await waiting.value
            }
        }
    }

    @Test func `a device that changes its address is recognised by its name, or only when it is paired`() async throws {
        try await withClinic { clinic in
            let random: [String: BusValue] = ["AddressType": .string("random")]
            for (address, name, properties) in [
                ("C0:00:00:00:00:01", "Stays", random), ("4A:00:00:00:00:02", "Passes", random),
                ("4A:00:00:00:00:03", "Bonded", random.merging(["Paired": .bool(true)]) { $1 }),
                ("4A:00:00:00:00:04", "", random),
            ] {
                await clinic.bluez.addDevice(address, name: name, properties: properties) { ScriptedPeripheral.strap() }
            }
            let found = try await clinic.radio.nearby(for: Self.moment).sorted {
                $0.address.suffix(1) < $1.address.suffix(1)
            }
            #expect(found.map { $0.options.map(\.key) } == [["address"], ["name"], ["address"], ["address"]])
            #expect(found.map { $0.note != nil } == [false, true, false, true])
            #expect(found[1].options == [.init("name", "Passes")])
        }
    }

    @Test func `several adapters are one list, in which each device has its strongest signal`() async throws {
        try await withClinic(adapters: ["hci0", "hci1"]) { clinic in
            let waiting = Task {
                try await clinic.link("band", Clinic.target("A4:C1:38:00:11:33", adapter: "hci1")) { _ in }
            }
            defer { waiting.cancel() }
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.contains("StartDiscovery hci1") }
            await clinic.bluez.addDevice(Clinic.strap, name: "Strap", properties: ["RSSI": .int16(-80)]) {
                ScriptedPeripheral.strap()
            }
            await clinic.bluez.addDevice(
                Clinic.strap, name: "Strap", adapter: "hci1", properties: ["RSSI": .int16(-40)]
            ) { ScriptedPeripheral.strap() }
            // Its answer comes after the advertisements.
            try await clinic.radio.call("/org/bluez/hci1", BlueZ.adapter, "SetDiscoveryFilter", [.options()])
            let found = try await clinic.radio.nearby(for: Self.moment)
            #expect(found.map(\.signalStrength) == [-40])
            #expect(found.first?.options == [.init("address", Clinic.strap), .init("adapter", "hci1")])
        }
    }

    @Test func `a scan keeps a limited number of devices`() {
        let scan = NearbyScan(adapters: ["hci0"])
        for number in 0...NearbyScan.capacity {
            scan.add(NearbyDevice(address: "\(number)", options: []), "\(number)")
        }
        #expect(scan.devices.count == NearbyScan.capacity)
        scan.add(NearbyDevice(address: "0", name: "Strap", options: []), "0")
        #expect(scan.devices["0"]?.name == "Strap")
    }

    @Test func `without BlueZ, an adapter, power or a scan, the error says what to do`() async throws {
        try await withClinic(isRunning: false) { clinic in
            #expect(await Self.error(clinic)?.message.contains("systemctl start bluetooth") == true)
        }
        try await withClinic(adapters: []) { clinic in
            #expect(await Self.error(clinic)?.message.contains("There is no Bluetooth adapter. Plug it in") == true)
        }
        try await withClinic(isPowered: false) { clinic in
            await clinic.bluez.fail("Set", .bluez("Blocked", "Blocked through rfkill"))
            #expect(await Self.error(clinic)?.message.contains("rfkill unblock bluetooth") == true)
            // It was switched on meanwhile.
            await clinic.bluez.change("/org/bluez/hci0", BlueZ.adapter, ["Powered": .bool(true)])
            _ = try await clinic.radio.call("/org/bluez/hci0", BlueZ.adapter, "SetDiscoveryFilter")
            #expect(await Self.error(clinic) == nil)
        }
    }

    @Test func `an adapter that does not begin to scan is reported`() async throws {
        let clock = ManualClock()
        try await withClinic(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.silence("StartDiscovery")
            async let error = Self.error(clinic)
            try await clock.move(to: NearbyScan.startTime)
            let timeout = try #require(await error)
            #expect(timeout.code == .timeout)
            #expect(timeout.message.contains("systemctl restart bluetooth"))
        }
    }

    @Test func `a scan waits for an adapter that connects a device, for a limited time`() async throws {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.silence("Connect")
            let link = Task { try await clinic.link("strap", Clinic.target(connectTimeout: .minutes(2))) { _ in } }
            defer { link.cancel() }
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.contains { $0.hasPrefix("Connect ") } }
            async let error = Self.error(clinic)
            for round in 1...6 { try await clock.move(to: NearbyScan.startTime * round) }
            #expect(await error?.message.contains("connects devices all the time") == true)
        }
    }

    @Test func `a scan ends with its task, and with its adapter`() async throws {
        try await withClinic { clinic in
            let scan = Task { try await clinic.radio.nearby(for: .minutes(1)) }
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.contains("StartDiscovery hci0") }
            scan.cancel()
            await #expect(throws: LinkError.self) { try await scan.value }
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.last == "StopDiscovery hci0" }
        }
        let clock = ManualClock()
        try await withClinic(clock: clock.gatewayClock) { clinic in
            async let error = Self.error(clinic, for: .seconds(7))
            try await clock.deadlines.wait(within: Clinic.timeout) { $0.contains(.seconds(7)) }
            await clinic.bluez.removeAdapter("hci0")
            while !clinic.log.entries.contains(where: { $0.message == "An adapter is gone." }) { await Task.yield() }
            try await clock.move(to: .seconds(7))
            #expect(await error?.message.contains("removed") == true)
        }
    }

    private static func error(_ clinic: Clinic, for duration: Duration) async -> LinkError? {
        do {
            _ = try await clinic.radio.nearby(for: duration)
            return nil
        } catch { return error }
    }
}
