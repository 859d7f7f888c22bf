import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// The findings of `vitals2mqtt doctor` about Bluetooth.
@Suite(.timeLimit(.minutes(2))) struct FindingTests {
    /// What is found on the bus of a clinic, by a separate connection.
    private func findings(_ clinic: Clinic, adapter: String? = nil) async -> [Finding] {
        var options = BlueZOptions()
        options.bus = clinic.address
        options.adapter = adapter
        return await BlueZService(options).examine(
            context: ServiceContext(clock: .system, logger: clinic.log.logger))
    }

    @Test func `an adapter that is on is fine, and one that is off is a warning that changes nothing`() async throws {
        try await withClinic { clinic in
            let texts = ["BlueZ serves this user over D-Bus.", "The adapter hci0 is on."]
            #expect(await findings(clinic) == texts.map { Finding(.fine, "bluetooth", $0) })
        }
        try await withClinic(isPowered: false) { clinic in
            let found = await findings(clinic)
            #expect(found.map(\.severity) == [.fine, .warning])
            #expect(found.last?.text.contains("rfkill unblock bluetooth") == true)
            #expect(await clinic.bluez.property("/org/bluez/hci0", BlueZ.adapter, "Powered") == .bool(false))
        }
    }

    @Test func `without BlueZ, an adapter or the right to use it, it says what to do`() async throws {
        try await withClinic(isRunning: false) { clinic in
            let found = await findings(clinic)
            #expect(found.map(\.severity) == [.problem])
            #expect(found.first?.text.contains("systemctl start bluetooth") == true)
        }
        try await withClinic(adapters: []) { clinic in
            #expect(await findings(clinic).first?.text == "There is no Bluetooth adapter. Plug it in.")
        }
        try await withClinic { clinic in
            let found = await findings(clinic, adapter: "hci7")
            #expect(found.first?.text == "There is no Bluetooth adapter hci7. Plug it in. There is hci0.")
        }
        try await withClinic { clinic in
            let refusal = BusError.reply(name: "org.freedesktop.DBus.Error.AccessDenied", message: "no")
            // Once when it connects, and once when it checks.
            await clinic.bluez.fail("GetManagedObjects", refusal, refusal)
            let found = await findings(clinic)
            #expect(found.map(\.severity) == [.problem])
            #expect(found.first?.text.contains("usermod -aG bluetooth") == true)
        }
    }

    @Test func `without D-Bus it says so`() async {
        var options = BlueZOptions()
        options.bus = "unix:path=/nowhere/bus"
        let found = await BlueZService(options).examine(
            context: ServiceContext(clock: .system, logger: LogRecorder().logger))
        #expect(found.map(\.severity) == [.problem])
        #expect(found.first?.text.contains("D-Bus, which cannot be reached") == true)
        #expect(found.first?.text.contains("A container needs /run/dbus/system_bus_socket mounted.") == true)
    }
}
