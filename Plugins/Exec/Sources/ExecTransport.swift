package import GatewayKit
import Logging
import Subprocess
import SystemPackage
import Vitals

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Starts a program; reads from its standard output and writes to its standard input.
package struct ExecTransport: Transport {
    /// `type: exec`.
    package static let name = "exec"
    /// A stream of bytes.
    package static let link = LinkKind.bytes
    /// Both ends of three pipes while the program starts, its process, and the pipe that says whether it could start.
    package static let descriptors = 9

    /// How long a program may take to exit after its standard input is closed, and again after `SIGTERM`. Twice this
    /// plus the graceful disconnect before it fit into the gateway's shutdown time of five seconds.
    static let defaultGrace: Duration = .seconds(1)

    var program: Program
    /// The grace period of this transport.
    package var grace = defaultGrace
    /// Called when the program did not exit by itself, with the way it was ended.
    package var onForcedEnd: (@Sendable (_ status: String) -> Void)?

    /// Reads `command`, `directory`, `environment` and `limits`.
    package init(options: inout ConfigurationReader) { program = Program(options: &options) }

    /// Starts the program, and ends its whole process group when `body` is done.
    ///
    /// If `body` fails because the link is gone, the error says how the program exited: this distinguishes a failed
    /// program from a link that just ended.
    package func withLink(context: LinkContext, _ body: @Sendable (Link) async throws -> Void) async throws {
        _ = BrokenPipes.areErrors
        try program.checkLimits()
        if let doubt = program.limits.doubt() {
            context.logger.warning("\(doubt)", metadata: ["exec.program": "\(program.name)"])
        }
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
                    // Fails only if the program has already closed its end.
                    try? await execution.standardInputWriter.finish()
                    await execution.teardown(using: steps)
                    // The program is gone, but its children may remain. Its process is reaped only after this closure
                    // returns, so no other process group can have the same number.
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
        if ended.terminationStatus.isForced { onForcedEnd?(ended.terminationStatus.text) }
        guard let error = ended.closureResult.error else { return }
        if let failure, error.isLossOfLink { throw program.failed(failure) }
        throw error
    }

    /// First no signal (0 is none): the closed standard input is the request to end. Then `SIGTERM`, and finally always
    /// `SIGKILL`. All go to the process group.
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
    /// What happened, as text for a person.
    var text: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .signaled(let signal): "was ended by signal \(signal)"
        }
    }

    /// What went wrong, `nil` if nothing did.
    var failure: String? { self == .exited(0) || isForced ? nil : text }

    /// Whether it was ended by `SIGTERM` or `SIGKILL`, the signals with which the gateway ends a program.
    var isForced: Bool {
        guard case .signaled(let signal) = self else { return false }
        return signal == Signal.terminate.rawValue || signal == Signal.kill.rawValue
    }
}

extension Error {
    /// Whether this says only that the link is gone.
    fileprivate var isLossOfLink: Bool {
        if let error = self as? LinkError { return error.code == .broken }
        return (self as? DeviceError)?.code == .disconnected
    }
}

/// Handles writes to a program that has exited.
enum BrokenPipes {
    /// Turns such a write into an error instead of a `SIGPIPE`, which would end the gateway; swift-subprocess leaves
    /// this to its user. It is set once for the whole process. Programs start with the system's default again.
    static let areErrors: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return true
    }()
}
