import Gateway
import GatewayKit
import Logging
import Synchronization
import Testing
import Vitals

@Suite struct ProcessLogTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private let lines = Lines()
    private let log: ProcessLog

    init() {
        let clock = GatewayClock(
            date: { Timestamp(milliseconds: 0) }, steady: ContinuousClock(), steadyNow: { .zero })
        log = ProcessLog(level: .info, format: .journal, clock: clock) { [lines] _, line in lines.add(line) }
    }

    @Test func `changes the level of every logger that there is`() {
        let logger = log.logger()
        logger.debug("one")
        log.level = .debug
        logger.debug("two")
        log.level = .error
        logger.warning("three")
        #expect(lines.all == ["<7>vitals2mqtt: two\n"])
    }

    @Test func `lets a logger have a level and metadata of its own`() {
        var logger = log.logger(label: "own")
        logger.logLevel = .debug
        logger[metadataKey: "device.id"] = "ring-1"
        logger.debug("one", metadata: ["a": "1"])
        log.logger().debug("two")
        #expect(lines.all == ["<7>own: one a=1 device.id=ring-1\n"])
    }
}
