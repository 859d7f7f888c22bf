import Conformance
package import Link

/// A part of a program's check, with its outcome.
package struct CheckStep: Sendable, Hashable {
    /// The outcome of a step.
    package enum Outcome: Sendable, Hashable {
        /// The program is correct. The text, if any, says what was seen.
        case passed(String?)
        /// The program violates the protocol.
        case failed([CheckProblem])
        /// The step was skipped, for this reason.
        case skipped(String)
    }

    /// The name of the step.
    package var name: String
    /// Its outcome.
    package var outcome: Outcome

    /// The step as lines of text for a person.
    package var text: String {
        switch outcome {
        case .passed(let seen): "ok    \(name)\(seen.map { ": \($0)" } ?? "")\n"
        case .skipped(let reason): "-     \(name): \(reason)\n"
        case .failed(let problems): "FAIL  \(name)\n" + problems.map(\.text).joined()
        }
    }
}

/// A violation of the protocol by a program.
package struct CheckProblem: Sendable, Hashable {
    /// A sentence that describes what the program does.
    package var message: String
    /// The violated rule; `nil` if the program did not even start.
    package var rule: LinkRule?

    /// The problem as lines of text for a person.
    var text: String {
        "      \(message)\n" + (rule.map { "        Protocol.md, \($0.section): \u{201C}\($0.text)\u{201D}\n" } ?? "")
    }
}

extension LinkRule {
    /// The rule that a part of the suite checks.
    static func of(_ check: DriverConformance.Check) -> LinkRule {
        switch check {
        case .description: .capabilities
        case .clock: .clock
        case .history: .history
        case .acknowledgement: .acknowledgement
        case .summaries: .summaries
        case .unsupported: .unsupported
        case .monitoring: .monitoring
        case .measurement: .measurement
        case .events, .receipts: .notifications
        case .overlap, .cancellation: .overlap
        case .silence, .interruption: .timeLimit
        case .shutdown: .shutdown
        }
    }
}
