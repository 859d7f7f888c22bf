import Foundation
import GatewayKit
import GatewayMain
import Link
import Logging
import Testing

/// The check of programs, against correct programs and programs with one error each.
@Suite(.timeLimit(.minutes(5)))
struct ProgramCheckTests {
    private static let programs = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Programs")
    private static let example = programs.appending(path: "../../../Plugins/Link/Examples/csv_heart_rate.py")
        .standardizedFileURL.path

    private static let phone = programs.appending(path: "../../../Plugins/Link/Examples/phone_bridge.py")
        .standardizedFileURL.path

    private func check(
        _ command: [String], _ change: (inout ProgramCheck.Options) -> Void = { _ in }
    ) async throws -> (isGood: Bool, steps: [CheckStep]) {
        var options = ProgramCheck.Options(command: command)
        options.listening = .zero
        options.timeout = .seconds(5)
        change(&options)
        let check = try ProgramCheck(options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var steps: [CheckStep] = []
        let isGood = await check.run { steps.append($0) }
        return (isGood, steps)
    }

    private static func python(_ name: String, _ arguments: String...) -> [String] {
        ["python3", "-B", programs.appending(path: "\(name).py").path] + arguments
    }

    @Test func `is content with the example in Python`() async throws {
        let (isGood, steps) = try await check(["python3", "-B", Self.example, "--interval", "0.1"]) {
            $0.listening = .milliseconds(1)
        }
        #expect(isGood, "\(steps.map(\.text).joined())")
        let text = steps.map(\.text).joined()
        #expect(text.contains("ok    first session: CSV heart rate, heart_rate (measure, monitor,"))
        #expect(text.contains("ok    what it sends by itself: nothing within"))
        #expect(text.contains("-     acknowledgement: a device may delete"))
        for name in ["history", "monitoring", "measurement", "overlapping calls", "shutdown", "its end"] {
            #expect(text.contains("ok    \(name)\n"), "\(name) was not checked")
        }
    }

    @Test func `is content with the phone as bridge, for every metric of its guides`() async throws {
        let (isGood, steps) = try await check(["python3", "-B", Self.phone, "--stdio", "--interval", "0.1"]) {
            $0.acknowledges = true
        }
        #expect(isGood, "\(steps.map(\.text).joined())")
        let text = steps.map(\.text).joined()
        for name in ["history", "acknowledgement", "summaries", "monitoring", "measurement", "shutdown", "its end"] {
            #expect(text.contains("ok    \(name)\n"), "\(name) was not checked")
        }
    }

    @Test func `is content with a device that does everything right, with all that can be checked`() async throws {
        let (isGood, steps) = try await check(Self.python("device")) { $0.acknowledges = true }
        #expect(isGood, "\(steps.map(\.text).joined())")
        #expect(steps.contains { $0.name == "acknowledgement" && $0.outcome == .passed(nil) })
    }

    @Test(arguments: [
        ("wrong_json", LinkRule.line, "Line 3 is no message ({'jsonrpc': '2.0', 'id': 3, 'result'"),
        ("wrong_id", .ids, "is an answer with the id 1004, which no call has."),
        ("never_answers", .timeLimit, "reading the monitoring of heart_rate did not end within 5.0 seconds."),
        ("invalid_metric", .samples, "10 of 10 records of a page are no samples. The first of them: metric is missing"),
        ("descending_history", .history, "heart_rate: records do not ascend by start."),
        ("endless_history", .pages, "heart_rate: the page 1 comes again and again, so the history never ends."),
        ("local_times", .times, "start is \"2025-10-09T08:53:20\", which is no whole number of milliseconds."),
        ("unknown_capability", .unknownCapabilities, "The capabilities of heart_rate name live, which is no ability."),
        ("garbage_between_lines", .output, "Line 1 is no message (DEBUG initialize)"),
        ("ignores_stop", .measurement, "the end of a stopped measurement of heart_rate did not end"),
        ("takes_nonsense", .monitoring, "succeeded; it should throw invalid."),
        ("ignores_time", .clock, "the clock was set right, but shows"),
        ("lingers", .shutdown, "the link was still open 5.0 seconds after the graceful disconnect."),
        ("stays", .ending, "It did not end within 5.0 seconds after its standard input ended"),
    ])
    func `names what is wrong with a program, and what the protocol says`(
        name: String, rule: LinkRule, message: String
    ) async throws {
        let (isGood, steps) = try await check(Self.python("faulty", name))
        #expect(!isGood)
        let problems = steps.flatMap { step -> [CheckProblem] in
            guard case .failed(let problems) = step.outcome else { return [] }
            return problems
        }
        #expect(
            problems.contains { $0.rule == rule && $0.message.contains(message) },
            "\(steps.map(\.text).joined())")
        #expect(steps.map(\.text).joined().contains("Protocol.md, \(rule.section): \u{201C}\(rule.text)"))
    }

    @Test func `waits no longer for a program that does not answer at all`() async throws {
        let (isGood, steps) = try await check(["sleep", "60"]) { $0.timeout = .milliseconds(200) }
        #expect(!isGood)
        #expect(steps.count == 1)
        let text = steps.map(\.text).joined()
        #expect(text.contains("initialize was not answered within 0.2 seconds"), "\(text)")
        #expect(text.contains("must answer `ping` meanwhile"))
    }

    @Test(arguments: [
        (["/nowhere/program"], "does not exist or may not be run"), (["false"], "exited with status 1"),
    ])
    func `says why a program does not run`(command: [String], message: String) async throws {
        let (isGood, steps) = try await check(command)
        #expect(!isGood)
        #expect(steps.map(\.text).joined().contains(message), "\(steps.map(\.text).joined())")
    }

    @Test func `refuses a command that cannot be started from anywhere`() {
        #expect(throws: ProgramCheckError.self) {
            try ProgramCheck(ProgramCheck.Options(command: ["./program"]), logger: Logger(label: "test"))
        }
    }
}
