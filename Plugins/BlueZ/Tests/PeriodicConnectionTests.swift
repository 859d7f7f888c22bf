import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// When devices have a link: turns and periodic connections.
@Suite(.timeLimit(.minutes(2))) struct PeriodicConnectionTests {
    /// Waits for values until the link ends, as a driver does.
    private static let listen: @Sendable (BlueZLink) async throws -> Void = { link in
        while try await link.nextValue() != nil {}
    }

    @Test func `when devices wait for a link, the one that has had its turn leaves, and comes back`() async throws {
        var options = BlueZOptions()
        (options.links, options.turn) = (1, .milliseconds(300))
        try await withClinic(options) { clinic in
            let names = ["a", "b", "c"]
            for (number, name) in names.enumerated() {
                await clinic.bluez.addDevice("A4:C1:38:00:11:4\(number)", name: name) { ScriptedPeripheral.strap() }
            }
            let turns = Recorder<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, name) in names.enumerated() {
                    group.addTask {
                        while turns.elements.count < 9 {
                            // The fake sends one advertisement a scan.
                            do {
                                try await clinic.link(name, Clinic.target("A4:C1:38:00:11:4\(number)")) { link in
                                    turns.append(name)
                                    if turns.elements.count < 9 { try await Self.listen(link) }
                                }
                            } catch let error as LinkError where error.code == .ended {}
                        }
                    }
                }
                try await turns.wait(within: Clinic.timeout) { $0.count >= 9 }
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
            // A third each; on a busy machine one may come back too late for its turn.
            for name in names { #expect(turns.elements.prefix(9).count { $0 == name } >= 2, "\(turns.elements)") }
        }
    }

    @Test func `a periodic connection ends when the device is silent, and the next one waits its time`() async throws {
        try await withStrap { clinic in
            let mode = DeviceTarget.Mode.periodic(
                every: .milliseconds(300), idle: .milliseconds(100), longest: .seconds(30))
            let clock = ContinuousClock()
            var ends: [ContinuousClock.Instant] = []
            for _ in 0..<2 {
                await #expect(throws: LinkError(.ended, "The gateway has left the device, and comes back.")) {
                    try await clinic.link("strap", Clinic.target(mode: mode), Self.listen)
                }
                ends.append(clock.now)
            }
            #expect(ends[1] - ends[0] >= .milliseconds(300))
        }
    }

    @Test func `who wants a new connection does not wait for the time of the next periodic one`() async throws {
        try await withStrap { clinic in
            let mode = DeviceTarget.Mode.periodic(every: .hours(24), idle: .milliseconds(100), longest: .seconds(30))
            await #expect(throws: LinkError(.ended, "The gateway has left the device, and comes back.")) {
                try await clinic.link("strap", Clinic.target(mode: mode), Self.listen)
            }
            // The gateway waits a day, until a person wants a connection or changes the settings.
            let pause = Task { try await clinic.link("strap", Clinic.target(mode: mode), Self.listen) }
            pause.cancel()
            _ = await pause.result
            // The scan may have been running since before the pause, and the fake sends one advertisement a scan.
            await clinic.bluez.advertise()
            try await clinic.link("strap", Clinic.target()) { _ in }
        }
    }

    @Test func `a device that is never silent is left at the limit of the connection`() async throws {
        try await withStrap { clinic in
            let mode = DeviceTarget.Mode.periodic(every: .seconds(10), idle: .seconds(5), longest: .milliseconds(200))
            await #expect(throws: LinkError(.ended, "The gateway has left the device, and comes back.")) {
                try await clinic.link("strap", Clinic.target(mode: mode), Self.listen)
            }
        }
    }

    /// How often a device was connected.
    private static func connections(_ clinic: Clinic) -> Int {
        clinic.bluez.calls.elements.count { $0.hasPrefix("Connect ") }
    }

    @Test func `a broken connection is made again when the device advertises, and after the third time at its time`()
        async throws
    {
        let clock = ManualClock()
        try await withStrap(clock: clock.gatewayClock) { clinic in
            let mode = DeviceTarget.Mode.periodic(every: .hours(1), idle: .seconds(10), longest: .minutes(5))
            for _ in 0..<3 {
                let error = await #expect(throws: LinkError.self) {
                    try await clinic.link("strap", Clinic.target(mode: mode)) { link in
                        await clinic.bluez.disconnect()
                        try await Self.listen(link)
                    }
                }
                #expect(error?.code == .broken)
            }
            #expect(Self.connections(clinic) == 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await clinic.link("strap", Clinic.target(mode: mode)) { _ in } }
                try await clock.move(to: .hours(1))
                try await group.waitForAll()
            }
            #expect(Self.connections(clinic) == 4)
        }
    }

    @Test func `a connection that its driver fails is made again as soon as the device advertises`() async throws {
        try await withStrap(clock: ManualClock().gatewayClock) { clinic in
            let mode = DeviceTarget.Mode.periodic(every: .hours(1), idle: .seconds(10), longest: .minutes(5))
            let failure = DeviceError(.failure, "The ring did not answer.")
            await #expect(throws: failure) {
                try await clinic.link("strap", Clinic.target(mode: mode)) { _ in throw failure }
            }
            try await clinic.link("strap", Clinic.target(mode: mode)) { _ in }
            #expect(Self.connections(clinic) == 2)
        }
    }

    @Test func `a turn begins when the link is open, however long that took`() async throws {
        let clock = ManualClock()
        var options = BlueZOptions()
        (options.links, options.turn) = (1, .seconds(5))
        try await withStrap("a", options: options, clock: clock.gatewayClock) { clinic in
            let other = "A4:C1:38:00:11:33"
            await clinic.bluez.addDevice(other, name: "b") { ScriptedPeripheral.strap() }
            let release = await clinic.bluez.hold("Connect")
            let turns = Recorder<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, address) in [("a", Clinic.strap), ("b", other)] {
                    group.addTask {
                        try? await clinic.link(name, Clinic.target(address)) { link in
                            turns.append(name)
                            try await Self.listen(link)
                        }
                    }
                }
                try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                    calls.contains { $0.hasPrefix("Connect ") }
                }
                clock.set(to: .seconds(6))
                release.fulfil(())
                try await turns.wait(within: Clinic.timeout) { $0.count == 1 }
                // The other one waits, and gets the link when the turn is over.
                try await clock.move(to: .seconds(11))
                try await turns.wait(within: Clinic.timeout) { $0.count == 2 }
                group.cancelAll()
            }
            #expect(Set(turns.elements) == ["a", "b"])
        }
    }

    @Test func `a device whose connection fails lets the adapter listen for others for as long`() async throws {
        let clock = ManualClock()
        try await withStrap("weak", clock: clock.gatewayClock) { clinic in
            let (other, absent) = ("A4:C1:38:00:11:33", "A4:C1:38:00:11:99")
            await clinic.bluez.addDevice(other, name: "other") { ScriptedPeripheral.strap() }
            try await clinic.link("other", Clinic.target(other)) { link in
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: BluetoothUUID(0x180a)))
                let seen = Promise<Void>()
                @Sendable func scans(after call: String) async throws {
                    try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                        calls.lastIndex { $0.hasPrefix("StartDiscovery") } ?? 0 > calls.lastIndex {
                            $0.hasPrefix(call)
                        } ?? 0
                    }
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try? await clinic.link("absent", Clinic.target(absent)) { _ in } }
                    try await scans(after: "Connect ")
                    let presence = DevicePresence()
                    let release = await clinic.bluez.hold("Connect")
                    let weak = Task { try await clinic.link("weak", presence: presence) { _ in } }
                    // It counts only when it is waited for.
                    while Self.connections(clinic) < 2 {
                        await clinic.bluez.advertise()
                        _ = try await link.read(model)
                    }
                    // It is out of reach when the adapter tries it.
                    await clinic.bluez.hide()
                    clock.set(to: .seconds(20))
                    release.fulfil(())
                    await #expect(throws: LinkError.self) { try await weak.value }
                    presence.whenSeen { seen.fulfil(()) }
                    try await scans(after: "Connect ")
                    for (moment, isSeen) in [(39, false), (40, true)] {
                        clock.set(to: .seconds(moment))
                        await clinic.bluez.advertise()
                        // Its answer comes after the advertisement.
                        _ = try await link.read(model)
                        #expect((seen.value != nil) == isSeen, "\(moment)")
                    }
                    group.cancelAll()
                }
            }
        }
    }
}
