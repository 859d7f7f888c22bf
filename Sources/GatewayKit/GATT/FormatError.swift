/// Why bytes of a device cannot be read.
public struct FormatError: Error, Sendable, Hashable {
    /// What is wrong, as the end of a sentence, such as `the checksum of a packet is wrong`.
    public var problem: String
    /// An error with this problem.
    public init(_ problem: String) { self.problem = problem }
}
