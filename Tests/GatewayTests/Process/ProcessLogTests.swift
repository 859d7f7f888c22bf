import GatewayKit
import Logging
import Synchronization
import Testing
import Vitals
import Web

@testable import Gateway

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

    @Test func `the newest lines are remembered, and none that may have values of health`() {
        let memory = LogMemory()
        let clock = GatewayClock(
            date: { Timestamp(milliseconds: 0) }, steady: ContinuousClock(), steadyNow: { .zero })
        let log = ProcessLog(level: .trace, format: .plain, clock: clock, memory: memory) { _, _ in }
        let logger = log.logger()
        logger.debug("71 bpm")
        for number in 0...LogMemory.maximum { logger.notice("line \(number)", metadata: ["b": "two words", "a": "1"]) }
        #expect(memory.lines.count == LogMemory.maximum)
        #expect(memory.lines.first?.text == "line \(LogMemory.maximum)")
        #expect(memory.lines.first?.details == #"a=1 b="two words""#)
        #expect(memory.lines.first?.level == "notice")
        #expect(!memory.lines.contains { $0.text.contains("bpm") })
    }
}
