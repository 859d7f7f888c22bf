/// A limit that a user or an operator can meet. `vitals2mqtt config-reference` prints it.
public struct OperatorLimit: Sendable, Hashable {
    /// What is limited, in plain words.
    public var name: String
    /// The limit, in the notation of the configuration.
    public var value: String
    /// What happens at the limit.
    public var effect: String
    /// Why there is a limit, or why this one.
    public var reason: String

    private init(_ name: String, _ value: String, _ effect: String, _ reason: String) {
        (self.name, self.value, self.effect, self.reason) = (name, value, effect, reason)
    }

    /// A limit of a number.
    public init(_ name: String, count: Int, _ effect: String, _ reason: String) {
        self.init(name, "\(count)", effect, reason)
    }

    /// A limit to a range of numbers.
    public init(_ name: String, counts: ClosedRange<Int>, _ effect: String, _ reason: String) {
        self.init(name, "\(counts.lowerBound) to \(counts.upperBound)", effect, reason)
    }

    /// A limit of a time.
    public init(_ name: String, time: Duration, _ effect: String, _ reason: String) {
        self.init(name, time.configurationText, effect, reason)
    }

    /// A limit of a size.
    public init(_ name: String, bytes: some BinaryInteger, _ effect: String, _ reason: String) {
        self.init(name, "\(ByteSize(bytes: Int64(clamping: bytes)))", effect, reason)
    }
}
