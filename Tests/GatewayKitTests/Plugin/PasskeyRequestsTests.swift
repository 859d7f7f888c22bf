import GatewayKit
import Testing
import Vitals

/// Passkeys, and the requests for them.
@Suite struct PasskeyRequestsTests {
    @Test(arguments: [("000000", 0 as UInt32), ("012345", 12_345), ("999999", 999_999)])
    func `a passkey has six digits`(digits: String, number: UInt32) throws {
        let passkey = try #require(Passkey(digits))
        #expect(passkey.number == number)
        #expect(passkey.digits == digits)
        #expect(Passkey(Int(number)) == passkey)
    }

    @Test(arguments: ["", "12345", "1234567", "12345a", "+12345", " 12345", "١٢٣٤٥٦"])
    func `nothing else is a passkey`(text: String) { #expect(Passkey(text) == nil) }

    @Test func `a number beyond six digits is no passkey`() {
        #expect(Passkey(-1) == nil)
        #expect(Passkey(1_000_000) == nil)
    }

    @Test func `no text of a passkey has its digits`() throws {
        let passkey = try #require(Passkey("123456"))
        var dumped = ""
        dump([passkey], to: &dumped)
        for text in ["\(passkey)", String(reflecting: passkey), "\([passkey])", dumped] {
            #expect(!text.contains("123456") && !text.contains("E240"), "\(text)")
        }
    }

    @Test func `a passkey that nobody waits for is refused`() throws {
        let passkey = try #require(Passkey("123456"))
        #expect(!PasskeyRequests().enter(passkey))
    }

    @Test func `a new question and an end leave nobody waiting`() async throws {
        let requests = PasskeyRequests()
        let clock = GatewayClock.system
        let first = Task { try await requests.passkey(within: .minutes(1), clock: clock) }
        while requests.pairing?.phase != .passkey { await Task.yield() }
        let begun = try #require(requests.pairing)
        let second = Task { try await requests.passkey(within: .minutes(2), clock: clock) }
        while requests.pairing == begun { await Task.yield() }
        await #expect(throws: LinkError.self) { try await first.value }
        requests.end(LinkError(.broken, "The device has gone."), clock: clock)
        await #expect(throws: LinkError.self) { try await second.value }
        #expect(requests.pairing?.phase == .failed)
        #expect(requests.pairing?.message == "The device has gone.")
    }
}
