/// Why bytes of a ring cannot be read.
struct FormatError: Error, Sendable, Hashable {
    /// What is wrong, as the end of a sentence.
    var problem: String
    init(_ problem: String) { self.problem = problem }
}
