import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Adapters that are off, stuck, removed or many, and a BlueZ that ends and returns.
@Suite(.timeLimit(.minutes(2))) struct AdapterTests {
    private struct NoError: Error {}

    /// The error with which a link cannot be opened, or ends.
    private static func error(
        _ clinic: Clinic, _ target: DeviceTarget = Clinic.target(),
        _ body: @escaping @Sendable (BlueZLink) async throws -> Void = { _ in }
    ) async throws -> LinkError {
        do { try await clinic.link("strap", target, body) } catch let error as LinkError { return error }
        throw NoError()
    }

    @Test func `without BlueZ, and without the adapter, a link says what to do`() async throws {
        try await withClinic(isRunning: false) { clinic in
            let error = try await Self.error(clinic)
            #expect(error.code == .unreachable)
            #expect(error.message.contains("systemctl start bluetooth"))
        }
        try await withClinic(adapters: []) { clinic in
            let error = try await Self.error(clinic)
            #expect(error.message.contains("There is no Bluetooth adapter. Plug it in"))
        }
        try await withClinic { clinic in
            let error = try await Self.error(clinic, Clinic.target(adapter: "hci7"))
            #expect(error.message.contains("There is no Bluetooth adapter hci7."))
        }
    }

    @Test func `a BlueZ that does not say what it has is the error of a link, and is asked again`() async throws {
        let clock = ManualClock()
        try await withClinic(isRunning: false, clock: clock.gatewayClock) { clinic in
            let refusal = BusError.reply(name: "org.freedesktop.DBus.Error.AccessDenied", message: "no")
            await clinic.bluez.fail("GetManagedObjects", refusal)
            try await clinic.bluez.start()
            await clinic.bluez.addDevice(Clinic.strap, name: "Strap") { ScriptedPeripheral.strap() }
            _ = try await clinic.log.wait { $0.contains { $0.message == "BlueZ does not say what it has." } }
            let error = try await Self.error(clinic)
            #expect(error.code == .unreachable)
            #expect(error.message.contains("D-Bus does not let the gateway use BlueZ"))
            try await clock.move(to: .seconds(1), from: .milliseconds(500))
            _ = try await clinic.log.wait { $0.contains { $0.message == "BlueZ is there." } }
            try await clinic.link { _ in }
        }
    }

    @Test func `a bus that closes the connection at once names the user whom it does not know`() async throws {
        let server = """
            import socket
            server = socket.create_server(("127.0.0.1", 0))
            print(server.getsockname()[1], flush=True)
            while True: server.accept()[0].close()
            """
        try await withPrograms { programs in
            let program = programs.start("python3", ["-c", server])
            let events = try await program.events.wait(within: Clinic.timeout) { !$0.isEmpty }
            var options = BlueZOptions()
            options.bus = "tcp:host=127.0.0.1,port=\(try #require(events.first?.text))"
            let radio = Radio(options, loop: BusLoop(label: "refused"), clock: .system, logger: LogRecorder().logger)
            let error = await #expect(throws: RadioError.self) { try await radio.run {} }
            #expect(error?.description.contains("getent passwd") == true, "\(String(describing: error))")
        }
    }

    @Test func `an adapter that is off is switched on, or the link says that it is blocked`() async throws {
        try await withStrap(isPowered: false) { clinic in
            try await clinic.link { _ in }
            #expect(await clinic.bluez.property("/org/bluez/hci0", BlueZ.adapter, "Powered") == .bool(true))
        }
        try await withClinic(isPowered: false) { clinic in
            await clinic.bluez.fail("Set", .bluez("Blocked", "Blocked through rfkill"))
            let error = try await Self.error(clinic)
            #expect(error.message.contains("Blocked through rfkill"))
            #expect(error.message.contains("rfkill unblock bluetooth"))
        }
    }

    @Test func `a removed adapter ends its links, and serves again when it is back`() async throws {
        try await withStrap { clinic in
            let error = try await Self.error(clinic) { link in
                await clinic.bluez.removeAdapter("hci0")
                _ = try await link.nextValue()
            }
            #expect(error.code == .broken)
            #expect(try await Self.error(clinic).message.contains("Plug it in"))
            await clinic.bluez.addDevice(Clinic.strap, name: "Strap") { ScriptedPeripheral.strap() }
            await clinic.bluez.addAdapter("hci0")
            _ = try await clinic.log.wait { $0.contains { $0.message == "An adapter is there." } }
            try await clinic.link { link in #expect(link.services.count == 3) }
        }
    }

    @Test func `when BlueZ ends, links end, and it serves again when it returns`() async throws {
        try await withStrap { clinic in
            let error = try await Self.error(clinic) { link in
                await clinic.bluez.stop()
                _ = try await link.nextValue()
            }
            #expect(error.message.contains("BlueZ has ended"))
            #expect(try await Self.error(clinic).message.contains("systemctl start bluetooth"))
            try await clinic.bluez.start()
            await clinic.bluez.addDevice(Clinic.strap, name: "Strap") { ScriptedPeripheral.strap() }
            _ = try await clinic.log.wait { $0.count { $0.message == "BlueZ is there." } == 2 }
            try await clinic.link { link in #expect(link.services.count == 3) }
        }
    }

    @Test func `a scan that does not start is tried again`() async throws {
        try await withStrap { clinic in
            await clinic.bluez.fail("StartDiscovery", .bluez("NotReady"))
            try await clinic.link { _ in }
            #expect(clinic.bluez.calls.elements.count { $0.hasPrefix("StartDiscovery") } == 2)
        }
    }

    @Test func `each device is connected with its own adapter`() async throws {
        try await withStrap(adapters: ["hci0", "hci1"]) { clinic in
            let other = "A4:C1:38:00:11:33"
            await clinic.bluez.addDevice(other, name: "Band", adapter: "hci1") { ScriptedPeripheral.strap() }
            try await clinic.link { _ in
                // By its address.
                try await clinic.link("band", Clinic.target(other, adapter: "00:00:00:00:00:01")) { _ in
                    #expect(await clinic.bluez.peripheral(FakeBlueZ.path(other, on: "hci1")) != nil)
                    #expect(await clinic.bluez.peripheral() != nil)
                }
            }
        }
    }

    @Test func `a connection that fails or is never answered says so, and is given up at BlueZ`() async throws {
        // An advertisement counts for some seconds, which a busy machine may need.
        try await withStrap(clock: ManualClock().gatewayClock) { clinic in
            await clinic.bluez.fail("Connect", .bluez("Failed", "le-connection-abort-by-local"))
            let error = try await Self.error(clinic)
            #expect(error.code == .unreachable)
            #expect(error.message.contains(Clinic.strap) && error.message.contains("the adapter gave up"))
            await clinic.bluez.silence("Connect")
            // Heard while the gateway waits, with the options that it had before.
            await clinic.bluez.advertise()
            let late = try await Self.error(clinic, Clinic.target(connectTimeout: .milliseconds(100)))
            #expect(late.code == .timeout)
            #expect(
                clinic.bluez.calls.elements.last { !$0.hasPrefix("St") && !$0.hasPrefix("SetD") }?.hasPrefix(
                    "Disconnect") == true)
        }
    }
}
