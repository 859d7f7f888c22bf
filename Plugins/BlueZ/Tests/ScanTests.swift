import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// The recovery of an adapter that does not scan, or says that it scans and hears nothing.
@Suite(.timeLimit(.minutes(2))) struct ScanTests {
    private static let absent = "A4:C1:38:00:11:99"

    /// What was done with the scan and the power of the adapter.
    private static func steps(_ clinic: Clinic) -> [String] {
        let names = ["StartDiscovery", "StopDiscovery", "Set"]
        return clinic.bluez.calls.elements.compactMap { call in names.first { call == "\($0) hci0" } }
    }

    @Test func `an adapter that hears nothing scans anew, and is then switched off and on`() async throws {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.deafen("hci0")
            try await clinic.whileLinking {
                try await clock.move(to: .minutes(10))
                try await clock.move(to: .minutes(20))
            }
            #expect(
                Self.steps(clinic).prefix(7) == [
                    "StartDiscovery", "StopDiscovery", "StartDiscovery", "StopDiscovery", "Set", "Set",
                    "StartDiscovery",
                ])
            #expect(clinic.log.entries.count { $0.message == "An adapter hears nothing; its scan begins again." } == 1)
            #expect(
                clinic.log.entries.count {
                    $0.message == "An adapter still hears nothing; it is switched off and on."
                } == 1)
        }
    }

    @Test func `an adapter that cannot be switched off is scanned with, and switched off after the next silence`()
        async throws
    {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.deafen("hci0")
            await clinic.bluez.fail("Set", .bluez("Busy"))
            try await clinic.whileLinking {
                try await clock.move(to: .minutes(10))
                try await clock.move(to: .minutes(20))
                // It waits from half to all of its first wait.
                try await clock.move(
                    to: Duration.minutes(20) + ScanWatch.firstWait,
                    from: Duration.minutes(20) + ScanWatch.firstWait / 2)
                #expect(clinic.log.entries.contains { $0.message == "An adapter does not scan." })
                try await clock.move(to: Duration.minutes(30) + ScanWatch.firstWait)
            }
            #expect(Self.steps(clinic).count { $0 == "Set" } == 3)
        }
    }

    @Test func `an adapter that hears nothing and has a link is not switched off`() async throws {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            try await clinic.link { link in
                await clinic.bluez.deafen("hci0")
                let other = Task { try await clinic.link("other", Clinic.target(Self.absent)) { _ in } }
                defer { other.cancel() }
                for round in 1...3 {
                    try await clock.move(to: .minutes(10 * round))
                    _ = try await clinic.log.wait { entries in
                        entries.count { $0.message == "An adapter hears nothing; its scan begins again." } == round
                    }
                }
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: BluetoothUUID(0x180a)))
                #expect(try await link.read(model) == Array("Strap 1".utf8))
                other.cancel()
                await #expect(throws: LinkError.self) { try await other.value }
            }
            #expect(!Self.steps(clinic).contains("Set"))
        }
    }

    @Test func `an adapter that takes the order to scan and does not scan is switched off and on`() async throws {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.hang("hci0")
            try await clinic.whileLinking {
                try await clock.move(to: .seconds(10))
                try await clock.move(to: .seconds(30))
            }
            #expect(
                Self.steps(clinic).prefix(7) == [
                    "StartDiscovery", "StopDiscovery", "StartDiscovery", "StopDiscovery", "Set", "Set",
                    "StartDiscovery",
                ])
        }
    }

    @Test func `an adapter whose scan cannot be started three times is switched off and on`() async throws {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.fail("StartDiscovery", .bluez("Failed"), .bluez("Failed"), .bluez("Failed"))
            try await clinic.whileLinking {
                // Each wait lasts from half to all of a maximum, which doubles.
                try await clock.move(to: .seconds(1), from: .milliseconds(500))
                try await clock.move(to: .seconds(3), from: .seconds(2))
                try await clock.move(to: .seconds(7), from: .seconds(5))
            }
            let steps = Self.steps(clinic).filter { $0 != "StopDiscovery" }
            #expect(
                steps.prefix(6) == [
                    "StartDiscovery", "StartDiscovery", "StartDiscovery", "Set", "Set", "StartDiscovery",
                ])
        }
    }

    @Test func `an adapter that the gateway has switched off is switched on until it is on`() async throws {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            await clinic.bluez.deafen("hci0")
            await clinic.bluez.fail("Set", nil, .bluez("Busy"), .bluez("Busy"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let error = await #expect(throws: LinkError.self) { try await clinic.link { _ in } }
                    #expect(error?.message.contains("is tried again") == true, "\(String(describing: error))")
                }
                try await clock.move(to: .minutes(10))
                try await clock.move(to: .minutes(20))
                try await group.waitForAll()
                try await clock.move(
                    to: Duration.minutes(20) + .seconds(1), from: Duration.minutes(20) + .milliseconds(500))
                // The device is listened for again.
                try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                    calls.count { $0 == "Set hci0" } == 4 && calls.last == "StartDiscovery hci0"
                }
                try await clinic.link { _ in }
            }
            #expect(await clinic.bluez.property("/org/bluez/hci0", BlueZ.adapter, "Powered") == .bool(true))
            #expect(Self.steps(clinic).count { $0 == "Set" } == 4)
        }
    }

    @Test func `a gateway that ends while it switches an adapter off and on leaves it on`() async throws {
        let (clock, fake) = (ManualClock(), Promise<FakeBlueZ>())
        try await withClinic(clock: clock.gatewayClock) { clinic in
            fake.fulfil(clinic.bluez)
            await clinic.bluez.deafen("hci0")
            await clinic.bluez.silence("Set")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try? await clinic.link { _ in } }
                try await clock.move(to: .minutes(10))
                try await clock.move(to: .minutes(20))
                try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.contains("Set hci0") }
                group.cancelAll()
            }
            await clinic.bluez.silence("Set", false)
        }
        #expect(fake.value?.calls.elements.count { $0 == "Set hci0" } == 2)
    }
}
