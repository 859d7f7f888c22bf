import Conformance
import Foundation
import GatewayKit
import Link
package import Logging
package import Vitals

/// Runs the driver conformance suite against a program that speaks Vitals Link on its standard input and output.
package struct ProgramCheck: Sendable {
    /// The program to check, and how to check it.
    package struct Options: Sendable {
        /// The program and its arguments. A path is absolute.
        package var command: [String]
        /// The `options` of `initialize`, as in the configuration.
        package var deviceOptions: [(key: String, value: String)] = []
        /// The time limit of any answer.
        package var timeout: Duration = .seconds(10)
        /// The duration of measurements.
        package var measurement: Duration = .seconds(1)
        /// How long the check listens for unasked events.
        package var listening: Duration = .seconds(3)
        /// Whether to acknowledge records as durable, after which the device may delete them.
        package var acknowledges = false

        /// Options for a program.
        package init(command: [String]) { self.command = command }
    }

    /// The parts of the suite that check a program. The others check the driver, which is the gateway's own.
    private static let checks: [DriverConformance.Check] = [
        .description, .clock, .history, .acknowledgement, .summaries, .unsupported, .monitoring, .measurement,
        .overlap, .cancellation, .shutdown,
    ]

    private let options: Options
    private let program: ProgramUnderCheck
    private let calendar: LocalCalendar
    private let clock: GatewayClock

    /// Creates a check of a program.
    /// - Parameter logger: receives the program's standard error.
    /// - Throws: `ProgramCheckError` if the command is invalid.
    package init(
        _ options: Options, calendar: LocalCalendar = LocalCalendar(timeZone: .current),
        clock: GatewayClock = .system, logger: Logger
    ) throws {
        self.options = options
        self.calendar = calendar
        self.clock = clock
        program = try ProgramUnderCheck(options, calendar: calendar, clock: clock, logger: logger)
    }

    /// Runs the check, and reports each step as soon as it is done.
    ///
    /// It sets the device's clock, changes its monitoring and starts measurements; at the end it restores the
    /// monitoring and sets the right time.
    /// - Returns: whether the program meets all requirements.
    package func run(_ report: (CheckStep) -> Void) async -> Bool {
        var isGood = true
        func reportStep(_ name: String, _ violations: [DriverConformance.Violation], seen: String? = nil) {
            let problems = self.problems(violations, isGreeting: name == Self.greeting)
            if !problems.isEmpty { isGood = false }
            report(CheckStep(name: name, outcome: problems.isEmpty ? .passed(seen) : .failed(problems)))
        }
        let expectation = DriverConformance.Expectation(
            endsLink: true, measurementDuration: options.measurement, timeout: options.timeout)
        let (discovery, violations) = await suite(expectation).discover(calendar: calendar)
        reportStep(Self.greeting, violations, seen: discovery.map { Self.summary(of: $0.description) })
        guard let discovery else { return false }
        if options.listening > .zero {
            let violations = await suite(expectation).listen(for: options.listening)
            reportStep("what it sends by itself", violations, seen: notifications)
        }
        let suite = suite(discovery.expectation)
        for check in Self.checks {
            if let reason = reasonToSkip(check, discovery.description.capabilities) {
                report(CheckStep(name: check.rawValue, outcome: .skipped(reason)))
            } else {
                reportStep(check.rawValue, await suite.run(check))
            }
        }
        reportStep("monitoring and clock as before", await suite.restore(discovery, calendar: calendar))
        let endings = program.endings
        let problems = endings.prefix(1).map { status in
            CheckProblem(
                message:
                    "It did not end within \(options.timeout) after its standard input ended, and \(status).",
                rule: .ending)
        }
        report(CheckStep(name: "its end", outcome: problems.isEmpty ? .passed(nil) : .failed(Array(problems))))
        return isGood && endings.isEmpty
    }

    private static let greeting = "first session"

    private func suite(_ expectation: DriverConformance.Expectation) -> DriverConformance {
        DriverConformance(expecting: expectation, clock: clock) { body in try await program.open(body) }
    }

    /// The violations that the suite and the audit of the link found.
    private func problems(_ violations: [DriverConformance.Violation], isGreeting: Bool) -> [CheckProblem] {
        violations.map { violation in
            let rule: LinkRule? =
                switch violation.code {
                case .timeout where violation.check == .measurement: .measurement
                case .timeout: isGreeting && violation.text.contains("initialize") ? .timeout : .timeLimit
                case nil where violation.text.hasPrefix("withSession failed"): nil
                default: .of(violation.check)
                }
            return CheckProblem(message: violation.text, rule: rule)
        } + program.takeViolations().map { CheckProblem(message: $0.text, rule: $0.rule) }
    }

    private func reasonToSkip(_ check: DriverConformance.Check, _ capabilities: Capabilities) -> String? {
        func unless(_ ability: Abilities, _ reason: String) -> String? {
            capabilities.metrics(with: ability).isEmpty ? reason : nil
        }
        return switch check {
        case .history: unless(.history, "the capabilities name no history")
        case .acknowledgement:
            unless(.history, "the capabilities name no history")
                ?? (options.acknowledges ? nil : "a device may delete what is acknowledged; --acknowledge checks it")
        case .summaries: unless(.summary, "the capabilities name no summary")
        case .monitoring: unless(.monitor, "the capabilities name no monitor")
        case .measurement: unless(.measure, "the capabilities name no measure")
        default: nil
        }
    }

    /// The unasked notifications of the program so far.
    private var notifications: String {
        let counts = program.notifications.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return counts.isEmpty ? "nothing within \(options.listening)" : counts.joined(separator: ", ")
    }

    private static func summary(of description: DeviceDescription) -> String {
        let metrics = Metric.allCases.compactMap { metric -> String? in
            guard let abilities = description.capabilities.metrics[metric] else { return nil }
            let names = Abilities.named.filter { abilities.contains($0.ability) }.map(\.name)
            return names.isEmpty ? metric.rawValue : "\(metric.rawValue) (\(names.joined(separator: ", ")))"
        }
        let model = description.identity.model ?? "a device without a model"
        return metrics.isEmpty ? "\(model), which names no metric" : "\(model), \(metrics.joined(separator: ", "))"
    }
}
