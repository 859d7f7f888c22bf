import Subprocess
import Synchronization
import SystemPackage

/// One run of a program for a test. It ends with the task that runs it, and that task always waits for the end, so that
/// nothing is left behind.
package final class ChildProgram: Sendable {
    /// An event of a program.
    package enum Event: Sendable, Equatable {
        /// A line of its standard output or standard error.
        case line(String)
        /// It has ended, with its exit status or the reason why it did not start.
        case ended(String)
    }
    /// How long a program may take to end after `SIGTERM`, before it is killed.
    private static let grace = Duration.seconds(3)
    /// The longest line, in bytes: a message of a megabyte in hexadecimal digits.
    private static let longestLine = 1 << 21

    /// The events so far.
    package let events = Recorder<Event>()
    private let name: String
    private let arguments: [String]
    private let state = Mutex(State())

    private struct State {
        var send: (@Sendable (Signal) -> Void)?
        /// Signals for a program that has not started yet; it gets them as soon as it has.
        var early: [Signal] = []
        var hasBegun = false
    }

    /// Creates a run of the program `name`, given as a name in the search path or as an absolute path.
    package init(_ name: String, _ arguments: [String]) {
        self.name = name
        self.arguments = arguments
    }

    /// Runs the program to its end, or ends it when the task is cancelled.
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
                // The program is reaped only after this closure, so its process id is not reused yet.
                defer { state.withLock { $0.send = nil } }
                var lines = OutputLines(limit: Self.longestLine)
                for try await buffer in execution.standardOutput {
                    for line in try buffer.withUnsafeBytes({ try lines.add($0) }) { events.append(.line(line)) }
                }
                if let line = try lines.end() { events.append(.line(line)) }
            }
            events.append(.ended("\(result.terminationStatus)"))
        } catch {
            events.append(.ended("\(error)"))
        }
    }

    /// The signals for a program.
    package enum Interruption: Int32, Sendable {
        case end = 15, kill = 9, freeze = 19, thaw = 18, reload = 1
    }

    /// Sends a signal to the program, unless it has ended.
    package func interrupt(_ interruption: Interruption) {
        let signal = Signal(rawValue: interruption.rawValue)
        state.withLock { state in
            if state.hasBegun { state.send?(signal) } else { state.early.append(signal) }
        }
    }

    /// Waits for the program's end.
    package func end(within limit: Duration) async throws {
        try await events.wait(within: limit) { $0.contains(where: \.isEnd) }
    }
}

extension ChildProgram.Event {
    /// Whether this is the program's end.
    package var isEnd: Bool { if case .ended = self { true } else { false } }
    /// The line, or how the program ended.
    package var text: String {
        switch self {
        case .line(let text): text
        case .ended(let status): "ended: \(status)"
        }
    }
}

/// A program that a test needs has failed.
package struct ProgramError: Error, CustomStringConvertible {
    /// What happened.
    package var description: String
}
