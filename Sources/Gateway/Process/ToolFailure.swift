/// Why a command of the program failed, and what to do, as text for a person.
package struct ToolFailure: Error, CustomStringConvertible {
    package let description: String
    /// Whether what the command made has errors, such as an entry that a configuration would not take.
    package let isIssue: Bool

    init(_ description: String, isIssue: Bool = false) {
        self.description = description
        self.isIssue = isIssue
    }
}
