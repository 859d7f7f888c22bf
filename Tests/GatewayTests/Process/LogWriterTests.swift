import Gateway
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1))) struct LogWriterTests {
    /// A pipe with the system's smallest buffer.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            (reading, writing) = (ends[0], ends[1])
            // F_SETPIPE_SZ of linux/fcntl.h
            _ = fcntl(writing, 1031, 4096)
        }

        /// Reads until the text has this ending.
        func read(until ending: String) -> String {
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !String(decoding: text.suffix(ending.utf8.count), as: UTF8.self).hasSuffix(ending) {
                let count = Glibc.read(reading, &buffer, buffer.count)
                guard count > 0 else { break }
                text += buffer.prefix(count)
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    private static let line = String(repeating: "x", count: 1023) + "\n"

    @Test func `writes lines in order, and flush waits for them`() throws {
        let pipe = try Pipe()
        let writer = LogWriter(descriptor: pipe.writing) { "\($0) left out\n" }
        writer.write("one\n", isUrgent: false)
        writer.write("two\n", isUrgent: true)
        writer.flush()
        close(pipe.writing)
        #expect(pipe.read(until: "two\n") == "one\ntwo\n")
        close(pipe.reading)
    }

    @Test func `nobody waits for a reader that does not read, and what did not fit is counted`() throws {
        let pipe = try Pipe()
        let writer = LogWriter(descriptor: pipe.writing) { "\($0) left out\n" }
        let kept = (LogWriter.capacity - LogWriter.reserve) / Self.line.utf8.count
        for _ in 0..<2 * kept { writer.write(Self.line, isUrgent: false) }
        // Warnings still have their part.
        writer.write("urgent\n", isUrgent: true)
        let began = ContinuousClock.now
        writer.flush()
        let lasted = ContinuousClock.now - began
        #expect(lasted >= LogWriter.flushPeriod)
        #expect(lasted < LogWriter.flushPeriod + .seconds(5))
        let text = pipe.read(until: "left out\n")
        // The thread may have written some lines already, whose place was free again: as many as a pipe holds.
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("x") }.count
        #expect((kept..<2 * kept).contains(lines))
        #expect(text.hasSuffix("urgent\n\(2 * kept - lines) left out\n"))
        writer.write("again\n", isUrgent: false)
        #expect(pipe.read(until: "again\n") == "again\n")
    }

    @Test func `a closed reader costs only the lines`() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = try Pipe()
        close(pipe.reading)
        let writer = LogWriter(descriptor: pipe.writing) { "\($0) left out\n" }
        for _ in 0..<1000 {
            writer.write(Self.line, isUrgent: true)
            writer.flush()
        }
        close(pipe.writing)
    }
}
