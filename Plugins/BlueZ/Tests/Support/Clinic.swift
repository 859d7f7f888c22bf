import GatewayKit
import Logging
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// A gateway's Bluetooth with a fake BlueZ on its own bus.
struct Clinic: Sendable {
    static let strap = "A4:C1:38:00:11:22"
    /// The strap's object.
    static let path = FakeBlueZ.path(strap)
    static let timeout: Duration = .seconds(20)

    let bluez: FakeBlueZ
    let address: String
    let radio: Radio
    let log: LogRecorder

    static func id(_ text: String) throws -> DeviceID { try #require(DeviceID(text)) }

    static func target(
        _ address: String = strap, adapter: String? = nil, mode: DeviceTarget.Mode = .persistent,
        pairing: DeviceTarget.Pairing = .none, connectTimeout: Duration = .seconds(10)
    ) -> DeviceTarget {
        DeviceTarget(
            selector: .address(address), adapter: adapter, mode: mode, pairing: pairing,
            connectTimeout: connectTimeout)
    }

    /// Runs `body` with a link to a device, and returns what it ends with.
    func link(
        _ id: String = "strap", _ target: DeviceTarget = Clinic.target(), presence: DevicePresence = DevicePresence(),
        _ body: @escaping @Sendable (BlueZLink) async throws -> Void
    ) async throws {
        try await radio.withLink(try Self.id(id), target, presence: presence, body)
    }

    /// Runs `body` while the strap is connected, and waits until it was.
    func whileLinking(_ body: () async throws -> Void) async throws {
        async let linking: Void = self.link { _ in }
        try await body()
        try await linking
    }
}

/// Runs `body` with a fake BlueZ and the gateway's side of it.
func withClinic(
    _ options: BlueZOptions = BlueZOptions(), adapters: [String] = ["hci0"], isPowered: Bool = true,
    isRunning: Bool = true, clock: GatewayClock = .system, _ body: @escaping @Sendable (Clinic) async throws -> Void
) async throws {
    try await withPrivateBus { address in
        let bluez = FakeBlueZ(address: address)
        if isRunning { try await bluez.start(adapters: adapters, isPowered: isPowered) }
        var options = options
        options.bus = address
        let log = LogRecorder()
        let radio = Radio(options, loop: testLoop, clock: clock, logger: log.logger)
        let clinic = Clinic(bluez: bluez, address: address, radio: radio, log: log)
        try await radio.run { try await body(clinic) }
        await bluez.stop()
    }
}

/// The same with a strap that advertises.
func withStrap(
    _ name: String = "Strap", passkey: UInt32? = nil, options: BlueZOptions = BlueZOptions(),
    adapters: [String] = ["hci0"], isPowered: Bool = true, clock: GatewayClock = .system,
    peripheral make: @escaping @Sendable () -> ScriptedPeripheral = { ScriptedPeripheral.strap() },
    _ body: @escaping @Sendable (Clinic) async throws -> Void
) async throws {
    try await withClinic(options, adapters: adapters, isPowered: isPowered, clock: clock) { clinic in
        await clinic.bluez.addDevice(Clinic.strap, name: name, passkey: passkey, make)
        try await body(clinic)
    }
}

/// The same with a link to the strap.
func withStrapLink(
    _ name: String = "Strap",
    peripheral make: @escaping @Sendable () -> ScriptedPeripheral = { ScriptedPeripheral.strap() },
    _ body: @escaping @Sendable (Clinic, BlueZLink) async throws -> Void
) async throws {
    try await withStrap(name, peripheral: make) { clinic in
        try await clinic.link { link in try await body(clinic, link) }
    }
}

private let testLoop = BusLoop(label: "bluez-tests")
