import Listening
import Testing

@Suite struct GuessLimitTests {
    @Test func `waits double with each wrong secret, up to a minute`() {
        let limit = GuessLimit()
        var now: Duration = .zero
        var waits: [Duration] = []
        for _ in 0..<8 {
            limit.failed("192.0.2.1", for: "phone-1", at: now)
            let wait = limit.wait(of: "192.0.2.1", for: "phone-1", at: now) ?? .zero
            waits.append(wait)
            now += wait
            #expect(limit.wait(of: "192.0.2.1", for: "phone-1", at: now) == nil)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
    }

    @Test func `only the address and the device that erred have to wait`() {
        let limit = GuessLimit()
        limit.failed("192.0.2.1", for: "phone-1", at: .zero)
        #expect(limit.wait(of: "192.0.2.1", for: "phone-1", at: .zero) != nil)
        #expect(limit.wait(of: "192.0.2.1", for: "phone-2", at: .zero) == nil)
        #expect(limit.wait(of: "192.0.2.2", for: "phone-1", at: .zero) == nil)
        limit.succeeded("192.0.2.1", for: "phone-1")
        #expect(limit.wait(of: "192.0.2.1", for: "phone-1", at: .zero) == nil)
    }

    @Test func `remembers a limited number of entries, and forgets the oldest`() {
        let limit = GuessLimit()
        for number in 0...GuessLimit.maximumEntries {
            limit.failed("192.0.2.1", for: "phone-\(number)", at: .milliseconds(number))
        }
        #expect(limit.count == GuessLimit.maximumEntries)
        #expect(limit.wait(of: "192.0.2.1", for: "phone-0", at: .zero) == nil)
        #expect(limit.wait(of: "192.0.2.1", for: "phone-1", at: .zero) != nil)
    }
}
