import Logging
import Testing

@testable import Exec

@Suite struct LogLinesTests {
    @Test func `a line of the greatest length is kept, and a longer one is cut and said`() {
        var lines = LogLines()
        let longest = String(repeating: "x", count: LogLines.longestLine)
        #expect(lines.take("\(longest)\n".utf8) == [.init(level: .info, text: longest)])
        #expect(
            lines.take("\(longest)yz\nnext\n".utf8) == [
                .init(level: .info, text: longest, cut: 2), .init(level: .info, text: "next"),
            ])
    }

    @Test func `a line may come in any pieces`() {
        for size in 1...9 {
            var lines = LogLines()
            var found: [LogLines.Line] = []
            var rest = Array("W! käse\nplain".utf8)[...]
            while !rest.isEmpty {
                found += lines.take(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(found == [.init(level: .warning, text: "käse")])
            #expect(lines.finish() == .init(level: .info, text: "plain"))
            #expect(lines.finish() == nil)
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
        #expect(lines.take("\(line)\n".utf8) == [.init(level: level, text: text)])
    }
}
