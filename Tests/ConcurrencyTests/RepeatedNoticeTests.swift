import Concurrency
import GatewayTesting
import Testing
import Vitals

@Suite struct RepeatedNoticeTests {
    /// When events that come every second for a while are said, with their counts.
    private func said(for duration: Duration, _ reason: @escaping @Sendable (Int) -> String) throws -> [String] {
        try Simulation.run(seed: 1, deadline: .days(30)) { environment in
            let clock = environment.gatewayClock
            let began = clock.uptime
            var notice = RepeatedNotice()
            var said: [String] = []
            while clock.uptime - began < duration {
                if notice.isDue(reason(notice.count), at: clock.uptime) {
                    said.append("\((clock.uptime - began).components.seconds) s: \(notice.count)")
                }
                try await clock.sleep(for: .seconds(1))
            }
            return said
        }
    }

    @Test func `what lasts is said once, and then at doubling distances with a count`() throws {
        let said = try said(for: .hours(1)) { _ in "" }
        #expect(said == ["0 s: 1", "60 s: 61", "180 s: 181", "420 s: 421", "900 s: 901", "1860 s: 1861"])
    }

    @Test func `what lasts for weeks is said once a day`() {
        var notice = RepeatedNotice()
        let minutes = (0..<(30 * 24 * 60)).filter { notice.isDue(at: .minutes($0)) }
        #expect(minutes.count == 40)
        #expect(zip(minutes, minutes.dropFirst()).suffix(20).allSatisfy { $1 - $0 == 24 * 60 })
        #expect(notice.count == 30 * 24 * 60)
    }

    @Test func `another reason is said at once, and of many reasons only the first`() throws {
        let two = try said(for: .seconds(50)) { $0 < 10 ? "no route" : "refused" }
        #expect(two == ["0 s: 1", "10 s: 11"])
        let alternating = try said(for: .seconds(50)) { $0 % 2 == 0 ? "no route" : "refused" }
        #expect(alternating == ["0 s: 1", "1 s: 2"])
        let many = try said(for: .seconds(50)) { "\($0)" }
        #expect(many.count == RepeatedNotice.maximumReasons)
    }

    @Test func `after the end of a fault the next one is said at once`() {
        var notice = RepeatedNotice()
        #expect(Self.isDue(&notice, at: .zero))
        #expect(!Self.isDue(&notice, at: .seconds(59)))
        notice = RepeatedNotice()
        #expect(Self.isDue(&notice, at: .seconds(59)))
        #expect(notice.count == 1)
    }

    private static func isDue(_ notice: inout RepeatedNotice, at uptime: Duration) -> Bool {
        let isDue = notice.isDue(at: uptime)
        return isDue
    }
}
