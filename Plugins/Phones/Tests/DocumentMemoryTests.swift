import Foundation
import Testing
import Vitals

@testable import Phones

/// What the longest documents cost beside their own bytes, each in its own process.
@Suite(.timeLimit(.minutes(5))) struct DocumentMemoryTests {
    @Test func `twenty megabytes of stages, each a sleep of its own, take less than 48 MiB`() async {
        await #expect(processExitsWith: .success) {
            // An error that leaves this closure would not be reported.
            do {
                let sleeps = try DocumentMemoryTests.sleeps(every: .hours(2))
                #expect(sleeps.count > 200_000)
                #expect(sleeps.longest == 1)
            } catch { Issue.record(error) }
        }
    }

    @Test func `twenty megabytes of stages of one sleep take no more, and make no plausible one`() async {
        await #expect(processExitsWith: .success) {
            do {
                let sleeps = try DocumentMemoryTests.sleeps(every: .minutes(1))
                #expect(sleeps.count == 1)
                #expect(sleeps.longest == SampleLimits.stages + 1)
            } catch { Issue.record(error) }
        }
    }

    @Test func `twenty megabytes of the voltages of ECGs take no memory beside their document`() async {
        await #expect(processExitsWith: .success) {
            do {
                let document = DocumentMemoryTests.recordings(of: 20 << 20)
                var (warnings, leftOut) = (0, 0)
                let rise = try DocumentMemoryTests.rise(
                    HealthAutoExport.self, document, after: DocumentMemoryTests.recordings(of: 300, voltages: 1)
                ) { record in
                    switch record {
                    case .alert: warnings += 1
                    case .skipped: leftOut += 1
                    case .sample, .nothing, .refused, .battery: Issue.record("a voltage is a record")
                    }
                }
                #expect(warnings > 10 && warnings == leftOut)
                #expect(rise < 4 << 10, "\(rise) KiB")
            } catch { Issue.record(error) }
        }
    }

    @Test func `twenty megabytes of a script's entries are read one by one, also where most are refused`() async {
        await #expect(processExitsWith: .success) {
            do {
                var (taken, refused) = (0, 0)
                let rise = try DocumentMemoryTests.rise(
                    ScriptDocument.self, DocumentMemoryTests.entries(of: 20 << 20),
                    after: DocumentMemoryTests.entries(of: 300)
                ) { record in
                    if case .sample = record { taken += 1 } else { refused += 1 }
                }
                #expect(taken > 100_000 && refused > 100_000)
                #expect(rise < 4 << 10, "\(rise) KiB")
            } catch { Issue.record(error) }
        }
    }

    /// A document of almost this size of ECGs, by default of 30 seconds with 512 voltages a second.
    private static func recordings(of size: Int, voltages: Int = 30 * 512) -> [UInt8] {
        var text = Array(#"{"data":{"ecg":["#.utf8)
        text.reserveCapacity(size)
        let voltage = #"{"date":"2026-01-05 08:00:00.000 +0100","voltage":0.123,"units":"V"},"#
        var length = 0
        var start = Timestamp(seconds: 0)
        while text.count < size - length - 200 {
            let before = text.count
            text.append(
                contentsOf: #"{"start":"\#(start)","classification":"Atrial Fibrillation","voltageMeasurements":["#.utf8
            )
            for _ in 0..<voltages { text.append(contentsOf: voltage.utf8) }
            text.removeLast()
            text.append(contentsOf: "]},".utf8)
            length = text.count - before
            start = start + .hours(1)
        }
        text.removeLast()
        text.append(contentsOf: "]}}".utf8)
        return text
    }

    /// A document of almost this size of entries, of which every second one has no time.
    private static func entries(of size: Int) -> [UInt8] {
        var text = Array(#"{"samples":["#.utf8)
        text.reserveCapacity(size)
        while text.count < size - 200 {
            let entry = #"{"metric":"weight","value":71.2,"time":1781240400},{"metric":"weight","value":7},"#
            text.append(contentsOf: entry.utf8)
        }
        text.removeLast()
        text.append(contentsOf: "]}".utf8)
        return text
    }

    /// How many KiB the most memory rises by while a document is read, after a short one: what the first one of a process takes for
    /// its code and for tables of types does not grow with the document.
    private static func rise<App: PhoneApp>(
        _ app: App.Type, _ document: [UInt8], after short: [UInt8], _ body: (Record) -> Void
    ) throws -> Int {
        func read(_ document: [UInt8], _ body: (Record) -> Void) throws {
            var stream = try app.records(of: document, calendar: LocalCalendar(timeZone: .gmt), source: nil)
            while let record = try stream.next() { body(record) }
        }
        try read(short) { _ in }
        let before = try peak()
        try read(document, body)
        return try peak() - before
    }

    /// The number of sleeps of the longest document, and the most stages of one, read with little memory.
    private static func sleeps(every pause: Duration) throws -> (count: Int, longest: Int) {
        let document = document(every: pause)
        let before = try peak()
        var stream = try HealthAutoExport.records(of: document, calendar: LocalCalendar(timeZone: .gmt), source: nil)
        var (count, longest) = (0, 0)
        while let record = try stream.next() {
            guard case .sample(let sample) = record, case .sleep(let sleep) = sample.reading else { continue }
            count += 1
            longest = max(longest, sleep.stages.count)
        }
        let rise = try peak() - before
        #expect(rise < most, "\(rise) KiB")
        return (count, longest)
    }

    /// The most memory in KiB: a stage has 24 bytes where its text has 75, an array that grows has up to three times its content,
    /// and sorting needs half of it. The rest is a reserve.
    private static let most = 48 << 10

    /// A document of almost 20 MiB of stages of a minute.
    private static func document(every pause: Duration) -> [UInt8] {
        var text = Array(#"{"data":{"metrics":[{"name":"sleep_analysis","data":["#.utf8)
        text.reserveCapacity(20 << 20)
        var start = Timestamp(seconds: 0)
        while text.count < (20 << 20) - 200 {
            let entry = #"{"value":"REM","start":"\#(start)","end":"\#(start + .minutes(1))"},"#
            text.append(contentsOf: entry.utf8)
            start = start + pause
        }
        text.removeLast()
        text.append(contentsOf: "]}]}}".utf8)
        return text
    }

    /// The most memory that this process has had, in KiB (proc(5)).
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }
}
