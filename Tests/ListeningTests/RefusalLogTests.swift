import Listening
import Testing

@Suite struct RefusalLogTests {
    @Test func `the first, second, fourth refusal of an address is a line, and an hour later the first again`() {
        let log = RefusalLog()
        let lines = (0..<20).compactMap { log.countRefusal(of: "192.0.2.1", at: .seconds($0)) }
        #expect(lines == [1, 2, 4, 8, 16])
        #expect(log.countRefusal(of: "192.0.2.2", at: .seconds(20)) == 1)
        let later = RefusalLog.memory + .seconds(19)
        #expect(log.countRefusal(of: "192.0.2.1", at: later) == nil)
        #expect(log.countRefusal(of: "192.0.2.1", at: later + RefusalLog.memory + .seconds(1)) == 1)
    }

    @Test func `a second has ten lines, whatever they say`() {
        let log = RefusalLog()
        let lines = (0..<9).compactMap { log.countRefusal(of: "192.0.2.\($0)", at: .zero) }
        #expect(lines.count == RefusalLog.linesPerSecond - 1)
        let others = (0..<3).map { _ in log.mayLog(at: .milliseconds(900)) }
        #expect(others == [true, false, false])
        #expect(log.countRefusal(of: "192.0.2.100", at: .milliseconds(999)) == nil)
        #expect(log.countRefusal(of: "192.0.2.100", at: .seconds(1)) == 2)
    }

    @Test func `of many addresses the one that was refused last is remembered`() {
        let log = RefusalLog()
        _ = log.countRefusal(of: "198.51.100.1", at: .zero)
        for number in 0..<RefusalLog.maximumAddresses {
            _ = log.countRefusal(of: "192.0.2.\(number)", at: .seconds(1 + number))
        }
        let now = Duration.seconds(1000)
        #expect(log.countRefusal(of: "192.0.2.\(RefusalLog.maximumAddresses - 1)", at: now) == 2)
        #expect(log.countRefusal(of: "198.51.100.1", at: now) == 1)
    }
}
