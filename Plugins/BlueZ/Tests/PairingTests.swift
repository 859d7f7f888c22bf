import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Pairing.
@Suite(.timeLimit(.minutes(2))) struct PairingTests {
    @Test(
        arguments: [
            nil, 7,
        ] as [UInt32?]) func `a device is paired once, and trusted`(passkey: UInt32?) async throws
    {
        let pairing = try Self.pairing(passkey)
        try await withStrap("Cuff", passkey: passkey) { clinic in
            for _ in 0..<2 { try await clinic.link("cuff", Clinic.target(pairing: pairing)) { _ in } }
            #expect(await clinic.bluez.property(Clinic.path, BlueZ.device, "Paired") == .bool(true))
            #expect(await clinic.bluez.property(Clinic.path, BlueZ.device, "Trusted") == .bool(true))
            #expect(clinic.bluez.calls.elements.count { $0.hasPrefix("Pair ") } == 1)
            #expect(await clinic.bluez.agent == nil)
        }
    }

    private static func pairing(_ passkey: UInt32?) throws -> DeviceTarget.Pairing {
        guard let passkey else { return .justWorks }
        return .passkey(try #require(Passkey(Int(passkey))))
    }

    @Test(arguments: [nil, 8] as [UInt32?])
    func `a wrong passkey, or none where one is wanted, is reported with the remedy`(passkey: UInt32?) async throws {
        let pairing = try Self.pairing(passkey)
        try await withStrap("Cuff", passkey: 7) { clinic in
            do {
                try await clinic.link("cuff", Clinic.target(pairing: pairing)) { _ in }
                Issue.record("It is connected.")
            } catch let error as LinkError {
                #expect(error.message.contains("the pairing failed"))
                #expect(error.message.contains("pairing: passkey"))
            }
            #expect(clinic.bluez.calls.elements.contains { $0.hasPrefix("CancelPairing") })
            #expect(await clinic.bluez.agent == nil)
        }
    }

    /// Pairings with a passkey or without one, questions of BlueZ (its manual page org.bluez.Agent) with what they have beside the device,
    /// and the answers; `nil` for a rejection. Not stored: the leak checker finds no indirect case in a constant.
    private static var questions: [(UInt32?, String, [BusValue], [BusValue]?)] {
        [
            (nil, "RequestPinCode", [], nil), (nil, "RequestPasskey", [], nil),
            (nil, "RequestConfirmation", [.uint32(7)], nil), (nil, "RequestAuthorization", [], []),
            (nil, "AuthorizeService", [.string("0000180d-0000-1000-8000-00805f9b34fb")], []),
            (nil, "DisplayPasskey", [.uint32(7), .uint16(0)], nil),
            (7, "RequestPinCode", [], [.string("000007")]), (7, "RequestPasskey", [], [.uint32(7)]),
            (7, "RequestConfirmation", [.uint32(7)], []), (7, "RequestConfirmation", [.uint32(8)], nil),
            (7, "RequestAuthorization", [], []),
            (7, "AuthorizeService", [.string("0000180d-0000-1000-8000-00805f9b34fb")], []),
            (7, "DisplayPasskey", [.uint32(7), .uint16(0)], nil),
        ]
    }

    @Test(arguments: questions)
    func `a question is answered only about the device that is being paired, and only as its pairing allows`(
        passkey: UInt32?, question: String, rest: [BusValue], answer: [BusValue]?
    ) async throws {
        let pairing = try Self.pairing(passkey)
        let rejected = Bus.Result.failure(.bluez("Rejected", "The gateway does not pair it so."))
        let wanted = answer.map { Bus.Result.success($0) } ?? rejected
        let own = [BusValue.path(Clinic.path)] + rest
        let other = [BusValue.path(FakeBlueZ.path("A4:C1:38:00:11:33"))] + rest
        try await withStrap("Cuff", passkey: passkey) { clinic in
            let release = await clinic.bluez.hold("Pair")
            async let link: Void = clinic.link("cuff", Clinic.target(pairing: pairing)) { _ in }
            try await clinic.bluez.calls.wait(within: Clinic.timeout) { $0.contains { $0.hasPrefix("Pair ") } }
            let registered = await clinic.bluez.agent
            let agent = try #require(registered)
            #expect(await clinic.bluez.ask(agent, question, own) == wanted)
            #expect(await clinic.bluez.ask(agent, question, other) == rejected)
            release.fulfil(())
            try await link
            // The agent is no longer registered, and its object is still there.
            #expect(await clinic.bluez.agent == nil)
            #expect(await clinic.bluez.ask(agent, question, own) == rejected)
            #expect(await clinic.bluez.ask(agent, question, other) == rejected)
        }
    }

    @Test func `an agent that was left at BlueZ is taken back, and the device is paired`() async throws {
        try await withStrap("Cuff") { clinic in
            await clinic.bluez.fail("RegisterAgent", .bluez("AlreadyExists", "Already Exists"))
            try await clinic.link("cuff", Clinic.target(pairing: .justWorks)) { _ in }
            #expect(await clinic.bluez.property(Clinic.path, BlueZ.device, "Paired") == .bool(true))
            let calls = clinic.bluez.calls.elements.filter { $0.contains("Agent") || $0.hasPrefix("Pair") }
            #expect(
                calls.map { $0.prefix { $0 != " " } } == [
                    "RegisterAgent", "UnregisterAgent", "RegisterAgent", "Pair", "UnregisterAgent",
                ])
        }
    }

    @Test func `an agent whose registration nobody waits for any more is taken back`() async throws {
        try await withStrap("Cuff") { clinic in
            await clinic.bluez.silence("RegisterAgent")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: LinkError.self) {
                        try await clinic.link("cuff", Clinic.target(pairing: .justWorks)) { _ in }
                    }
                }
                try await clinic.bluez.calls.wait(within: Clinic.timeout) { calls in
                    calls.contains { $0.hasPrefix("RegisterAgent") }
                }
                group.cancelAll()
                try await group.waitForAll()
            }
            #expect(clinic.bluez.calls.elements.contains { $0.hasPrefix("UnregisterAgent") })
        }
    }
}
