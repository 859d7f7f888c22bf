import Foundation
import GatewayKit
import Testing
import Vitals

@Suite struct SystemClockTests {
    @Test func `the system's date is the machine's, and its uptime only grows`() async throws {
        let clock = GatewayClock.system
        let before = Date().timeIntervalSince1970
        let now = clock.now
        #expect(Double(now.milliseconds) >= before * 1000 - 1)
        #expect(now.milliseconds <= Int64(Date().timeIntervalSince1970 * 1000))
        let uptime = clock.uptime
        try await clock.sleep(for: .milliseconds(1))
        #expect(clock.uptime - uptime >= .milliseconds(1))
    }
}
