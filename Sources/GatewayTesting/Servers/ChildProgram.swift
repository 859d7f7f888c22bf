import Subprocess
import Synchronization
import SystemPackage

/// One run of a program beside a test. It ends with the task that runs it, and is always waited for, so that nothing
/// is left behind.
package final class ChildProgram: Sendable {
    /// What a program does.
    package enum Event: Sendable, Equatable {
        /// A line of its standard output or standard error.
        case line(String)
        /// It is gone; with its exit status, or why it could not be started.
        case ended(String)
    }
    /// How long a program may take to end after `SIGTERM`, before it is killed.
    private static let grace = Duration.seconds(3)
    /// The longest line: a message of a megabyte in hexadecimal digits.
    private static let longestLine = 1 << 21

    /// What it did so far.
    package let events = Recorder<Event>()
    private let name: String
    private let arguments: [String]
    private let state = Mutex(State())

    private struct State {
        var send: (@Sendable (Signal) -> Void)?
        /// Signals for a program that was not started yet; they reach it as soon as it is.
        var early: [Signal] = []
        var hasBegun = false
    }

    /// A run of the program `name`, found by the search path or an absolute path.
    package init(_ name: String, _ arguments: [String]) {
        self.name = name
        self.arguments = arguments
    }

    /// Runs the program until it ends, or ends it when the task is cancelled.
    package func run() async {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: Self.grace)]
        do {
            let result = try await Subprocess.run(
                name.hasPrefix("/") ? .path(.init(name)) : .name(name), arguments: Arguments(arguments),
                platformOptions: options, input: .none, output: .sequence, error: .combinedWithOutput
            ) { execution in
                state.withLock { state in
                    state.send = { signal in try? execution.send(signal: signal) }
                    state.hasBegun = true
                    for signal in state.early { state.send?(signal) }
                }
                // The program is collected only after this closure, so its number is not another's yet.
                defer { state.withLock { $0.send = nil } }
                for try await line in execution.standardOutput.strings(
                    bufferingPolicy: .maxLineLength(Self.longestLine))
                {
                    events.append(.line(String(line.drop { $0.isNewline }.prefix { !$0.isNewline })))
                }
            }
            events.append(.ended("\(result.terminationStatus)"))
        } catch {
            events.append(.ended("\(error)"))
        }
    }

    /// What can be done to a program from outside.
    package enum Interruption: Int32, Sendable {
        case end = 15, kill = 9, freeze = 19, thaw = 18, reload = 1
    }

    /// Interrupts the program, unless it has ended.
    package func interrupt(_ interruption: Interruption) {
        let signal = Signal(rawValue: interruption.rawValue)
        state.withLock { state in
            if state.hasBegun { state.send?(signal) } else { state.early.append(signal) }
        }
    }

    /// Waits until the program has ended.
    package func end(within limit: Duration) async throws {
        try await events.wait(within: limit) { $0.contains(where: \.isEnd) }
    }
}

extension ChildProgram.Event {
    /// Whether the program is gone.
    package var isEnd: Bool { if case .ended = self { true } else { false } }
    /// The line, or how it ended.
    package var text: String {
        switch self {
        case .line(let text): text
        case .ended(let status): "ended: \(status)"
        }
    }
}

/// A program that did not do what a test needs.
package struct ProgramError: Error, CustomStringConvertible {
    /// What happened.
    package var description: String
}
