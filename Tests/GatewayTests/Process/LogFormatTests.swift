import Gateway
import Logging
import Testing
import Vitals

@Suite struct LogFormatTests {
    private let time = Timestamp(milliseconds: 1_795_246_264_120)

    private func line(_ format: LogFormat, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:])
        -> String
    {
        format.line(level, label: "x", message: message, metadata: metadata, at: time)
    }

    @Test func `writes time, level, label, message and sorted metadata`() {
        #expect(
            line(.plain, .warning, "Gone.", ["b": "2", "a.b": "1"])
                == "2026-11-21T07:31:04.120Z warning x: Gone. a.b=1 b=2\n")
    }

    @Test(arguments: [
        (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
    ])
    func `gives journald the priority and no time`(level: Logger.Level, priority: Int) {
        #expect(line(.journal, level, "Gone.") == "<\(priority)>x: Gone.\n")
    }

    @Test(arguments: [
        ("a b", "k=\"a b\""), ("a\"b", "k=\"a\\\"b\""), ("", "k=\"\""), ("a=b", "k=\"a=b\""), ("a\nb", "k=a\\nb"),
        ("é\u{1B}[0m", "k=é\\u{1B}[0m"), ("a\u{2028}b", "k=a\\u{2028}b"),
    ])
    func `keeps a value in its place`(value: String, text: String) {
        #expect(line(.journal, .info, "m", ["k": .string(value)]) == "<6>x: m \(text)\n")
    }

    @Test func `lets no message pass for two lines`() {
        #expect(line(.journal, .info, "one\n<2>two") == "<6>x: one\\n<2>two\n")
    }

    @Test func `uses journald's format only where the stream is the journal's`() {
        let environment = ["JOURNAL_STREAM": "8:1234"]
        #expect(LogFormat.fitting(environment: environment, errorStream: (8, 1234)) == .journal)
        #expect(LogFormat.fitting(environment: environment, errorStream: (8, 1235)) == .plain)
        #expect(LogFormat.fitting(environment: [:], errorStream: (8, 1234)) == .plain)
        #expect(LogFormat.fitting(environment: environment, errorStream: nil) == .plain)
    }
}
