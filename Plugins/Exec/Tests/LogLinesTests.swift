import Logging
import Testing

@testable import Exec

extension LogLines {
    fileprivate mutating func append(_ new: some Collection<UInt8>, at now: Duration = .zero) -> [Line] {
        Array(new).withUnsafeBytes { append($0, at: now) }
    }
}

@Suite struct LogLinesTests {
    @Test func `a second has a hundred lines, and the others are counted`() {
        var lines = LogLines()
        let limit = LogLines.linesPerSecond
        let flood = (0..<limit + 3).map { "\($0)\n\n" }.joined()
        #expect(lines.append("\(flood)begins".utf8, at: .seconds(1)).map(\.text) == (0..<limit).map { "\($0)" })
        #expect(lines.append(" and goes on".utf8, at: .milliseconds(1999)).isEmpty)
        // The rest of a line that was skipped is no line.
        #expect(lines.append(" and ends\nnext\n".utf8, at: .seconds(2)) == [.init(level: .info, text: "next")])
        #expect(lines.hasSkipped)
        #expect(lines.takeSkipped() == 4)
        #expect(lines.takeSkipped() == 0)
        #expect(lines.completeLine() == nil)
    }

    @Test func `reads so much in a turn, and waits for the next one`() {
        var rate = ReadingRate()
        #expect(rate.pause(after: ReadingRate.bytesPerTurn, lines: 0, at: .seconds(1)) == nil)
        #expect(rate.pause(after: 1, lines: 0, at: .milliseconds(1040)) == .milliseconds(60))
        #expect(rate.pause(after: ReadingRate.bytesPerTurn, lines: 0, at: .milliseconds(1100)) == nil)
        #expect(rate.pause(after: ReadingRate.bytesPerTurn, lines: 0, at: .milliseconds(1300)) == nil)
    }

    @Test func `each line counts, so that a program with empty ones is not read faster than its lines cost`() {
        var lines = LogLines()
        #expect(lines.append("\n\n\r\nlast\nno end".utf8) == [.init(level: .info, text: "last")])
        #expect(lines.takeEnds() == 4)
        #expect(lines.takeEnds() == 0)
        var rate = ReadingRate()
        // A whole pipe of empty lines.
        let count = 65_536
        #expect(rate.pause(after: count, lines: count, at: .seconds(1)) == .milliseconds(200))
        var (now, read) = (Duration.seconds(2), 0)
        while now < .seconds(12) {
            now += rate.pause(after: 1_000, lines: 1_000, at: now) ?? .zero
            read += 1_000
        }
        #expect((200_000...300_000).contains(read / 10))
    }

    @Test func `a line of the greatest length is kept, and a longer one is cut and said`() {
        var lines = LogLines()
        let longest = String(repeating: "x", count: LogLines.longestLine)
        #expect(lines.append("\(longest)\n".utf8) == [.init(level: .info, text: longest)])
        #expect(
            lines.append("\(longest)yz\nnext\n".utf8) == [
                .init(level: .info, text: longest, cut: 2), .init(level: .info, text: "next"),
            ])
    }

    @Test func `a line may come in any pieces`() {
        for size in 1...9 {
            var lines = LogLines()
            var found: [LogLines.Line] = []
            var rest = Array("W! käse\nplain".utf8)[...]
            while !rest.isEmpty {
                found += lines.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found == [.init(level: .warning, text: "käse")])
            #expect(lines.completeLine() == .init(level: .info, text: "plain"))
            #expect(lines.completeLine() == nil)
        }
    }

    @Test(
        arguments: [
            ("E! x", .error, "x"), ("E!x", .info, "E!x"), ("e! x", .info, "e! x"), ("X! x", .info, "X! x"),
            ("D! ", .debug, ""), ("a\u{1B}[2Jb\tc", .info, "a\u{FFFD}[2Jb\tc"),
        ] as [(String, Logger.Level, String)])
    func `reads a level where there is one, and lets nothing control the terminal`(
        line: String, level: Logger.Level, text: String
    ) {
        var lines = LogLines()
        #expect(lines.append("\(line)\n".utf8) == [.init(level: level, text: text)])
    }
}
