import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Passkeys that a device makes for each pairing, and a person types.
@Suite(.timeLimit(.minutes(2))) struct PasskeyTests {
    /// Requests for a passkey, with the states of the pairing.
    private struct Questions: Sendable {
        let requests = PasskeyRequests()
        let states = Recorder<PairingState>()

        init(_ clock: GatewayClock = .system) { requests.follow(clock: clock) { [states] in states.append($0) } }

        var phases: [PairingState.Phase] { states.elements.map(\.phase) }

        /// Waits until the device has asked so often, and gives it this passkey.
        func enter(_ digits: String, at question: Int = 1) async throws {
            try await states.wait(within: Clinic.timeout) { $0.count { $0.phase == .passkey } >= question }
            let passkey = try #require(Passkey(digits))
            #expect(requests.enter(passkey))
        }
    }

    private static func connect(_ clinic: Clinic, _ questions: Questions) async -> LinkError? {
        do {
            try await clinic.radio.withLink(
                try Clinic.id("cuff"), Clinic.target(pairing: .ask), presence: DevicePresence(),
                passkeys: questions.requests
            ) { _ in }
            return nil
        } catch { return error as? LinkError }
    }

    @Test func `a person gives the passkey that the device shows, and it is in no log`() async throws {
        try await withStrap("Cuff", passkey: 40_713) { clinic in
            let questions = Questions()
            async let error = Self.connect(clinic, questions)
            try await questions.enter("040713")
            #expect(await error == nil)
            #expect(await clinic.bluez.property(Clinic.path, BlueZ.device, "Paired") == .bool(true))
            #expect(questions.phases == [.idle, .passkey, .checking, .paired])
            #expect(await clinic.bluez.agent == nil)
            #expect(!clinic.log.entries.contains { "\($0)".contains("40713") })
            // It is asked for once: BlueZ keeps the bond.
            #expect(await Self.connect(clinic, questions) == nil)
            #expect(questions.phases.count == 4)
        }
    }

    @Test func `a wrong passkey fails, and the next attempt asks again`() async throws {
        try await withStrap("Cuff", passkey: 7) { clinic in
            let questions = Questions()
            async let first = Self.connect(clinic, questions)
            try await questions.enter("000008")
            #expect(await first?.message.contains("the pairing failed") == true)
            #expect(questions.phases.last == .failed)
            #expect(questions.states.elements.last?.message?.contains("the pairing failed") == true)
            async let second = Self.connect(clinic, questions)
            try await questions.enter("000007", at: 2)
            #expect(await second == nil)
        }
    }

    @Test func `nobody is waited for longer than the device waits`() async throws {
        let clock = ManualClock()
        try await withStrap("Cuff", passkey: 7, clock: clock.gatewayClock) { clinic in
            let questions = Questions(clock.gatewayClock)
            async let error = Self.connect(clinic, questions)
            let asked = try await questions.states.wait(within: Clinic.timeout) { $0.last?.phase == .passkey }
            #expect(asked.last?.until == clock.gatewayClock.now + Radio.passkeyTime)
            try await clock.move(to: Radio.passkeyTime)
            #expect(await error != nil)
            #expect(questions.states.elements.last?.phase == .failed)
            #expect(questions.states.elements.last?.message?.contains("No person gave the passkey in time") == true)
            let late = try #require(Passkey("000007"))
            #expect(!questions.requests.enter(late))
        }
    }

    @Test func `a device that shows no passkey is paired without a question`() async throws {
        try await withStrap("Cuff") { clinic in
            let questions = Questions()
            #expect(await Self.connect(clinic, questions) == nil)
            #expect(questions.phases == [.idle, .paired])
        }
    }

    @Test func `a stop while a passkey is asked for ends the pairing`() async throws {
        try await withStrap("Cuff", passkey: 7) { clinic in
            let questions = Questions()
            let pairing = Task { await Self.connect(clinic, questions) }
            try await questions.states.wait(within: Clinic.timeout) { $0.last?.phase == .passkey }
            pairing.cancel()
            #expect(await pairing.value != nil)
            #expect(questions.phases.last == .failed)
            let late = try #require(Passkey("000007"))
            #expect(!questions.requests.enter(late))
            #expect(await clinic.bluez.agent == nil)
        }
    }
}
