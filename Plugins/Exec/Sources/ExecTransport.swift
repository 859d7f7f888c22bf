package import GatewayKit
import Logging
import Subprocess
import SystemPackage
import Vitals

/// Starts a program, whose standard output is what is read and whose standard input is what is written.
package struct ExecTransport: Transport {
    /// `type: exec`.
    package static let name = "exec"
    /// A stream of bytes.
    package static let link = LinkKind.bytes

    /// How long a program may take to end by itself once its standard input is closed, and again after `SIGTERM`. Twice this
    /// and the goodbye before it fit into the five seconds in which the gateway ends.
    static let defaultGrace: Duration = .seconds(1)

    let program: Program
    var grace = defaultGrace

    /// Reads `command`, `directory` and `environment`.
    package init(options: inout ConfigurationReader) { program = Program(options: &options) }

    /// Starts the program, and ends it and its whole process group when `body` is done.
    ///
    /// A program that fails is told from one whose link just ended: where `body` failed because the link was gone, the
    /// error says how the program exited.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        _ = BrokenPipes.areErrors
        let steps = steps
        var configuration = program.configuration(environment: program.environment())
        configuration.platformOptions.teardownSequence = steps
        let ended: ExecutionResult<Ending, SequenceOutput, SequenceOutput>
        do {
            ended = try await Subprocess.run(
                configuration, input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                let link = ProgramLink(
                    program: program, input: execution.standardInputWriter, output: execution.standardOutput)
                return await withTaskGroup { group in
                    let errors = execution.standardError
                    group.addTask { await log(errors, to: context.logger) }
                    var error: (any Error)?
                    do { try await body(.bytes(link)) } catch let thrown { error = thrown }
                    let hasEnded = await link.invalidate()
                    // It fails only where the program has closed its end already.
                    try? await execution.standardInputWriter.finish()
                    await execution.teardown(using: steps)
                    // The program is gone, but not what it started. Its process is not collected before this closure
                    // returns, so that no other one can have got the number of the group.
                    try? execution.send(signal: .kill, toProcessGroup: true)
                    await group.waitForAll()
                    return Ending(error: error, hasEnded: hasEnded)
                }
            }
        } catch let error as SubprocessError {
            throw program.cannotStart(error)
        }
        let failure = ended.closureResult.hasEnded ? ended.terminationStatus.failure : nil
        report(failure, of: ended, to: context.logger)
        guard let error = ended.closureResult.error else { return }
        if let failure, error.isLossOfLink { throw LinkError(.broken, "The program \(program.name) \(failure).") }
        throw error
    }

    /// First nothing (signal 0 is none): the closed standard input is the request to end. Then `SIGTERM`. `SIGKILL` always
    /// comes last. All of them go to the process group.
    private var steps: [TeardownStep] {
        [
            .send(signal: Signal(rawValue: 0), toProcessGroup: true, allowedDurationToNextStep: grace),
            .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: grace),
        ]
    }

    private func report(
        _ failure: String?, of ended: ExecutionResult<Ending, SequenceOutput, SequenceOutput>, to logger: Logger
    ) {
        logger.log(
            level: failure == nil ? .debug : .warning, "The program has ended.",
            metadata: [
                "exec.program": "\(program.name)", "exec.pid": "\(ended.processIdentifier)",
                "exec.status": "\(ended.terminationStatus.text)",
            ])
    }
}

/// How `body` ended, and whether the program closed its standard output before that.
private struct Ending: Sendable {
    var error: (any Error)?
    var hasEnded: Bool
}

extension TerminationStatus {
    /// What happened, for a person.
    var text: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .signaled(let signal): "was ended by signal \(signal)"
        }
    }

    /// What went wrong, `nil` where nothing did. `SIGTERM` and `SIGKILL` are how the gateway itself ends a program.
    var failure: String? {
        switch self {
        case .exited(0): nil
        case .signaled(let signal) where signal == Signal.terminate.rawValue || signal == Signal.kill.rawValue: nil
        default: text
        }
    }
}

extension Error {
    /// Whether this says no more than that the link is gone.
    fileprivate var isLossOfLink: Bool {
        if let error = self as? LinkError { return error.code == .broken }
        return (self as? DeviceError)?.code == .disconnected
    }
}
