import Listening
import Testing
import Vitals

@Suite struct LoginRateLimiterTests {
    @Test func `waits double with each wrong secret, up to a minute`() {
        let limiter = LoginRateLimiter()
        var now: Duration = .zero
        var waits: [Duration] = []
        for _ in 0..<8 {
            limiter.failed("192.0.2.1", for: "phone-1", at: now)
            let wait = limiter.wait(of: "192.0.2.1", for: "phone-1", at: now) ?? .zero
            waits.append(wait)
            now += wait
            #expect(limiter.wait(of: "192.0.2.1", for: "phone-1", at: now) == nil)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
    }

    @Test func `only the address and the device that erred have to wait`() {
        let limiter = LoginRateLimiter()
        limiter.failed("192.0.2.1", for: "phone-1", at: .zero)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-1", at: .zero) != nil)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-2", at: .zero) == nil)
        #expect(limiter.wait(of: "192.0.2.2", for: "phone-1", at: .zero) == nil)
        limiter.succeeded("192.0.2.1", for: "phone-1", at: .zero)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-1", at: .zero) == nil)
    }

    /// Sends wrong secrets for as many devices from addresses, at one time.
    private func guess(
        _ limiter: LoginRateLimiter, _ count: Int, at now: Duration = .zero, from address: (Int) -> String
    ) {
        for number in 0..<count { limiter.failed(address(number), for: "guess-\(number)", at: now) }
    }

    @Test func `an address that tries many names has to wait for all of them`() {
        let limiter = LoginRateLimiter()
        guess(limiter, LoginRateLimiter.errorsPerNetwork) { _ in "192.0.2.1" }
        #expect(limiter.wait(of: "192.0.2.1", for: "another", at: .zero) == nil)
        var waits: [Duration] = []
        for number in 0..<7 {
            limiter.failed("192.0.2.1", for: "further-\(number)", at: .zero)
            waits.append(limiter.wait(of: "192.0.2.1", for: "another", at: .zero) ?? .zero)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60].map { Duration.seconds($0) })
        #expect(limiter.wait(of: "192.0.2.2", for: "another", at: .zero) == nil)
    }

    @Test func `a device that had the right secret does not wait for the guesses of its network`() {
        let limiter = LoginRateLimiter()
        limiter.succeeded("192.0.2.1", for: "phone-1", at: .zero)
        guess(limiter, LoginRateLimiter.errorsPerNetwork + 5) { _ in "192.0.2.1" }
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-2", at: .zero) != nil)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-1", at: .zero) == nil)
        limiter.failed("192.0.2.1", for: "phone-1", at: .zero)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-1", at: .zero) == .seconds(1))
    }

    @Test(arguments: [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("fe80::1%eth0", "fe80::2%eth1", true),
    ])
    func `a host of IPv6 is not free by another address of its network`(one: String, other: String, isSame: Bool) {
        let limiter = LoginRateLimiter()
        guess(limiter, LoginRateLimiter.errorsPerNetwork + 1) { _ in one }
        #expect((limiter.wait(of: other, for: "phone-1", at: .zero) != nil) == isSame)
    }

    @Test func `errors are forgotten an hour after the last one`() {
        let limiter = LoginRateLimiter()
        guess(limiter, LoginRateLimiter.errorsPerNetwork + 3) { _ in "192.0.2.1" }
        let later = LoginRateLimiter.memory + .minutes(2)
        limiter.failed("192.0.2.1", for: "phone-1", at: later)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-2", at: later) == nil)
        #expect(limiter.wait(of: "192.0.2.1", for: "phone-1", at: later) == .seconds(1))
    }

    @Test func `a device that is known from now on does not wait for its errors`() {
        let limiter = LoginRateLimiter()
        for name in ["anna", "anna", "ben"] { limiter.failed("192.0.2.1", for: name, at: .zero) }
        limiter.forget("anna")
        #expect(limiter.wait(of: "192.0.2.1", for: "anna", at: .zero) == nil)
        #expect(limiter.wait(of: "192.0.2.1", for: "ben", at: .zero) == .seconds(1))
    }

    @Test func `remembers a limited number of entries, and forgets the one whose wait ends first`() {
        let limiter = LoginRateLimiter()
        for _ in 0..<6 { limiter.failed("192.0.2.1", for: "anna", at: .zero) }
        guess(limiter, 3 * LoginRateLimiter.maximumEntries) { "2001:db8:0:\(String($0, radix: 16))::1" }
        #expect(limiter.count <= 2 * LoginRateLimiter.maximumEntries)
        #expect(limiter.wait(of: "192.0.2.1", for: "anna", at: .zero) == .seconds(32))
        // They may be forgotten before, if others come later.
        guess(limiter, 3 * LoginRateLimiter.maximumEntries, at: .minutes(2)) {
            "2001:db8:1:\(String($0, radix: 16))::1"
        }
        #expect(limiter.count <= 2 * LoginRateLimiter.maximumEntries && limiter.count > LoginRateLimiter.maximumEntries)
    }
}
