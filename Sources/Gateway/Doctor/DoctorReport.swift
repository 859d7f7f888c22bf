package import GatewayKit

/// The output of `vitals2mqtt doctor`.
package struct DoctorReport: Sendable, Hashable {
    /// What was found, in the order of the checks.
    package let findings: [Finding]

    /// A report of these findings.
    package init(_ findings: [Finding]) { self.findings = findings }

    /// Whether nothing is broken. Warnings are none.
    package var isSound: Bool { !findings.contains { $0.severity == .problem } }

    /// A line for each finding, and one that counts them.
    package var text: String {
        let width = findings.map(\.subject.count).max() ?? 0
        let lines = findings.map { finding in
            let severity = Self.padded(finding.severity.rawValue, to: 4)
            return "\(severity)  \(Self.padded(finding.subject, to: width))  \(finding.text)\n"
        }
        return lines.joined() + summary
    }

    private var summary: String {
        let problems = findings.count { $0.severity == .problem }
        let warnings = findings.count { $0.severity == .warning }
        guard problems > 0 else { return warnings > 0 ? "The gateway can run. See the warnings.\n" : "All is well.\n" }
        return "\(problems) \(problems == 1 ? "problem" : "problems"). The gateway does not work as it should.\n"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
