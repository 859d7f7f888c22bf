import Concurrency
import GatewayKit
import TestSupport
import Testing
import Vitals

@testable import ESPHome

/// Links to devices through a fake proxy.
@Suite(.timeLimit(.minutes(2))) struct LinkTests {
    private static let rate = (uuid: BluetoothUUID(0x2a37), service: BluetoothUUID(0x180d))
    private static let model = (uuid: BluetoothUUID(0x2a24), service: BluetoothUUID(0x180a))
    /// Proxies of each generation, plain and encrypted.
    static let setups: [FakeProxy.Setup] = ["2026.8.1", "2025.3.0"].flatMap { version in
        [nil, Array(0..<32)].map { key in
            FakeProxy.Setup(version: version, features: version == "2025.3.0" ? 0x3f : 0x7f, key: key)
        }
    }

    @Test(arguments: setups.indices)
    func `a device that advertises is connected, read, written and listened to, and left`(index: Int) async throws {
        try await withStrap(Self.setups[index]) { ward in
            try await ward.whileLinked { link in
                #expect(link.name == "Strap")
                let device = try #require(await ward.proxy.peripheral(Ward.strap))
                #expect(try await device.violations(of: link) == [])
                await #expect(throws: GATTError.refused(.requestNotSupported)) { try await link.serve([]) }
            }
            #expect(await ward.proxy.peripheral(Ward.strap) == nil)
        }
    }

    @Test(
        arguments: [
            (1, .invalidHandle), (2, .readNotPermitted), (5, .insufficientAuthentication),
            (15, .insufficientEncryption), (0x80, ATTError(code: 0x80)), (0x89, .insufficientAuthentication),
            (0x8e, .insufficientEncryption), (0xfe, .procedureInProgress),
        ] as [(Int32, ATTError)])
    func `a refusal is reported as an error of the Attribute Protocol, and the link goes on`(
        code: Int32, expected: ATTError
    ) async throws {
        try await withStrap { ward in
            try await ward.whileLinked { link in
                let model = try #require(link.characteristic(Self.model.uuid, in: Self.model.service))
                await ward.proxy.fail(.readRequest, code)
                await #expect(throws: GATTError.refused(expected)) { try await link.read(model) }
                #expect(try await link.read(model) == Array("Strap 1".utf8))
            }
        }
    }

    @Test func `a read that nobody waits for any more does not answer the next one`() async throws {
        try await withStrap { ward in
            try await ward.whileLinked { link in
                let model = try #require(link.characteristic(Self.model.uuid, in: Self.model.service))
                let device = try #require(await ward.proxy.peripheral(Ward.strap))
                device.fallSilent()
                let read = Task { try await link.read(model) }
                try await ward.proxy.calls.wait(within: Ward.timeout) { $0.contains("readRequest") }
                read.cancel()
                await #expect(throws: GATTError.self) { try await read.value }
                await ward.proxy.drop(Ward.strap)
                await #expect(throws: GATTError.self) { try await link.read(model) }
            }
        }
    }

    @Test func `a device that disconnects ends its link after its values, and is connected again when it advertises`()
        async throws
    {
        try await withStrap { ward in
            try await ward.whileLinked { link in
                let rate = try #require(link.characteristic(Self.rate.uuid, in: Self.rate.service))
                try await link.subscribe(to: rate)
                let device = try #require(await ward.proxy.peripheral(Ward.strap))
                device.send([0, 61], from: 0x2a37)
                #expect(try await link.nextValue()?.bytes == [0, 61])
                await ward.proxy.drop(Ward.strap)
                await #expect(
                    throws: LinkError(
                        .broken, "The device ended the connection. It is connected again when it advertises.")
                ) {
                    try await link.nextValue()
                }
                await #expect(throws: GATTError.self) { try await link.read(rate) }
            }
            try await ward.whileLinked { _ in }
            // The services are known, unless the link broke.
            #expect(
                ward.proxy.calls.elements.filter { $0.hasPrefix("connectWith") } == [
                    "connectWithoutCache", "connectWithCache",
                ])
        }
    }

    @Test func `a device that the gateway does not wait for is seen by its advertisement`() async throws {
        try await withStrap { ward in
            let presence = DevicePresence()
            try await ward.link(presence: presence) { _ in }
            let seen = Promise<Void>()
            presence.whenSeen { seen.fulfil(()) }
            try await seen.wait()
        }
    }

    @Test(
        arguments: [
            (0x3e, "out of reach, asleep, or connected to a phone"), (0x05, "pair it again"),
            (0x22, "did not answer in time"),
            (0x77, "the error 0x77"), (0, "all of its connections are in use"),
        ] as [(Int32, String)]) func `a connection that fails says why`(code: Int32, text: String) async throws
    {
        try await withStrap { ward in
            await ward.proxy.fail(.deviceRequest, code)
            let failure = try await ward.failure()
            #expect(failure.contains(text))
            // The next attempt works.
            try await ward.whileLinked { _ in }
        }
    }

    @Test func `a connection that is never answered is given up`() async throws {
        try await withStrap { ward in
            await ward.proxy.ignore(.deviceRequest)
            let target = try Ward.target(connectTimeout: .milliseconds(100))
            let failure = try await ward.failure(target)
            #expect(failure.contains("it does not answer. Bring it nearer to the proxy."))
        }
    }

    @Test func `a pairing and services that never come are given up`() async throws {
        for (type, text) in [
            (MessageType.servicesRequest, "does not report its services"), (.deviceRequest, "it does not answer"),
        ] {
            try await withStrap(clock: .scaled(by: 10)) { ward in
                await ward.proxy.ignore(type)
                let failure = try await ward.failure()
                #expect(failure.contains(text))
            }
        }
        try await withStrap(clock: .scaled(by: 10)) { ward in
            await ward.proxy.ignorePairing()
            let failure = try await ward.failure(Ward.target(isPaired: true))
            #expect(failure.contains("the pairing has no end"))
        }
    }

    @Test func `a device that does not answer ends its link`() async throws {
        try await withStrap(clock: .scaled(by: 10)) { ward in
            try await ward.whileLinked { link in
                let model = try #require(link.characteristic(Self.model.uuid, in: Self.model.service))
                await ward.proxy.ignore(.readRequest)
                await #expect(
                    throws: GATTError.link(
                        LinkError(.timeout, "The device does not answer. It is connected again when it advertises."))
                ) {
                    try await link.read(model)
                }
                await #expect(throws: LinkError.self) { try await link.nextValue() }
            }
        }
    }

    @Test func `a device is paired without a passkey, and one that wants a passkey is refused`() async throws {
        try await withStrap { ward in
            let target = try Ward.target(isPaired: true)
            try await ward.whileLinked(target) { _ in }
            #expect(ward.proxy.calls.elements.contains("pair"))
            await ward.proxy.remove(Ward.strap)
            let other: UInt64 = 7
            await ward.proxy.add(other, name: "Cuff", passkey: true)
            let failing = try await ward.failure(try Ward.target(other, isPaired: true))
            #expect(failing.contains("a passkey, which cannot be entered through a proxy"))
        }
        try await withStrap(FakeProxy.Setup(features: 0x27)) { ward in
            let failure = try await ward.failure(Ward.target(isPaired: true))
            #expect(failure.contains("cannot pair. Update ESPHome"))
        }
    }

    @Test func `when all connections are in use, devices take turns`() async throws {
        try await withWard(FakeProxy.Setup(connections: 1), options: { $0.turn = .milliseconds(200) }) { ward in
            let turns = Recorder<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, name) in ["a", "b", "c"].enumerated() {
                    await ward.proxy.add(UInt64(number + 10), name: name)
                    group.addTask {
                        while turns.elements.count < 9 {
                            do {
                                try await ward.link(name, Ward.target(UInt64(number + 10))) { link in
                                    turns.append(name)
                                    while turns.elements.count < 9, try await link.nextValue() != nil {}
                                }
                            } catch let error as LinkError where error.code == .ended {}
                        }
                    }
                }
                try await turns.wait(within: Ward.timeout) { $0.count >= 9 }
                group.cancelAll()
                while let result = await group.nextResult() { _ = result }
            }
            for name in ["a", "b", "c"] {
                #expect(turns.elements.prefix(9).count { $0 == name } >= 2, "\(turns.elements)")
            }
        }
    }

    @Test func `a connection that something else has is waited for, and its lack is named`() async throws {
        try await withStrap(clock: .scaled(by: 10)) { ward in
            await ward.proxy.occupy(3)
            let failure = try await ward.failure()
            #expect(failure.contains("all of its 3 connections are in use"))
            await ward.proxy.occupy(0)
            try await ward.whileLinked { _ in }
        }
    }

    @Test func `a periodic connection ends when the device is silent, and the next one waits its time`() async throws {
        try await withStrap { ward in
            let target = try Ward.target(
                mode: .periodic(every: .milliseconds(300), idle: .milliseconds(100), longest: .seconds(30)))
            let clock = ContinuousClock()
            var ends: [ContinuousClock.Instant] = []
            for _ in 0..<2 {
                await #expect(throws: LinkError(.ended, "The gateway has left the device, and comes back.")) {
                    try await ward.link("strap", target) { link in while try await link.nextValue() != nil {} }
                }
                ends.append(clock.now)
            }
            #expect(ends[1] - ends[0] >= .milliseconds(400))
        }
    }

    @Test func `a value that is longer than what a device may take is not sent`() async throws {
        try await withStrap { ward in
            try await ward.whileLinked { link in
                let control = try #require(link.characteristic(BluetoothUUID(0x2a39), in: Self.rate.service))
                let long = [UInt8](repeating: 0, count: ProxyLink.longestValue + 1)
                await #expect(throws: GATTError.refused(.invalidLength)) {
                    try await link.write(long, to: control, .withResponse)
                }
            }
            #expect(!ward.proxy.calls.elements.contains("writeRequest"))
        }
    }
}
