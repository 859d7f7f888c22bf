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
        func read(until ending: String) -> String { read { $0.hasSuffix(ending) } }

        /// Reads until this holds for the text, or nothing more comes for ten seconds.
        func read(until isWhole: (String) -> Bool) -> String {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 4096)
            var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            while !isWhole(text), poll(&ready, 1, 10_000) > 0 {
                let count = Glibc.read(reading, &buffer, buffer.count)
                guard count > 0 else { break }
                text += String(decoding: buffer.prefix(count), as: UTF8.self)
            }
            return text
        }
    }

    /// What became of the lines of a text.
    private struct Account {
        var written = 0
        var skipped = 0
        var hasUrgent = false
        /// All lines of a known kind.
        var lines = 0

        init(_ text: String = "") {
            for line in text.split(separator: "\n") {
                if line.utf8.count == 1023, line.utf8.allSatisfy({ $0 == UInt8(ascii: "x") }) {
                    written += 1
                } else if line == "urgent" {
                    hasUrgent = true
                } else if line.hasSuffix(" skipped"), let count = Int(line.prefix { $0.isNumber }) {
                    skipped += count
                } else {
                    continue
                }
                lines += 1
            }
        }
    }

    private static let line = String(repeating: "x", count: 1023) + "\n"

    @Test func `writes lines in order, and flush waits for them`() throws {
        let pipe = try Pipe()
        let writer = LogWriter(descriptor: pipe.writing) { "\($0) skipped\n" }
        writer.write("one\n", isUrgent: false)
        writer.write("two\n", isUrgent: true)
        writer.flush()
        close(pipe.writing)
        #expect(pipe.read(until: "two\n") == "one\ntwo\n")
        close(pipe.reading)
    }

    @Test func `nobody waits for a reader that does not read, and what did not fit is counted`() throws {
        let pipe = try Pipe()
        let writer = LogWriter(descriptor: pipe.writing) { "\($0) skipped\n" }
        let kept = (LogWriter.capacity - LogWriter.reserve) / Self.line.utf8.count
        for _ in 0..<2 * kept { writer.write(Self.line, isUrgent: false) }
        // Warnings still have their part.
        writer.write("urgent\n", isUrgent: true)
        let began = ContinuousClock.now
        writer.flush()
        let lasted = ContinuousClock.now - began
        #expect(lasted >= LogWriter.flushPeriod)
        #expect(lasted < LogWriter.flushPeriod + .seconds(5))
        // The thread may take lines while more are written, and says each time how many were skipped so far.
        var account = Account()
        let text = pipe.read { text in
            account = Account(text)
            return text.hasSuffix("\n") && account.written + account.skipped == 2 * kept && account.hasUrgent
        }
        #expect((kept..<2 * kept).contains(account.written))
        #expect(account.written + account.skipped == 2 * kept)
        #expect(account.hasUrgent)
        #expect(account.lines == text.split(separator: "\n").count)
        writer.write("again\n", isUrgent: false)
        #expect(pipe.read(until: "again\n") == "again\n")
    }

    @Test func `a closed reader costs only the lines`() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = try Pipe()
        close(pipe.reading)
        let writer = LogWriter(descriptor: pipe.writing) { "\($0) skipped\n" }
        for _ in 0..<1000 {
            writer.write(Self.line, isUrgent: true)
            writer.flush()
        }
        close(pipe.writing)
    }

    @Test func `lines that a full disk does not take are counted`() throws {
        let pipe = try Pipe()
        // Each write to /dev/full fails as on a full disk.
        let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        let writer = LogWriter(descriptor: descriptor) { "\($0) skipped\n" }
        for _ in 0..<3 {
            writer.write(Self.line, isUrgent: false)
            writer.flush()
        }
        // There is room again.
        try #require(dup2(pipe.writing, descriptor) == descriptor)
        writer.write("urgent\n", isUrgent: true)
        #expect(pipe.read(until: "skipped\n") == "urgent\n3 skipped\n")
    }
}
