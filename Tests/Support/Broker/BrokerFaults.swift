/// The faults of an `InMemoryBroker`, like those of brokers and networks on bad days. Probabilities are from 0 to 1.
package struct BrokerFaults: Sendable {
    /// The probability that a connection is refused.
    package var refuseConnection: Double
    /// The probability, for each published message, that the connection breaks before the broker has it.
    package var cutBeforeStoring: Double
    /// The probability, for each published message, that the connection breaks after the broker took it but before the
    /// client knows.
    package var cutBeforeAcknowledging: Double
    /// The probability, for each delivery to a client at quality of service 1, that it is repeated.
    package var duplicateDelivery: Double
    /// How long acknowledgements and messages take to a client. They stay in order.
    package var delay: ClosedRange<Duration>

    /// Creates faults; none by default.
    package init(
        refuseConnection: Double = 0, cutBeforeStoring: Double = 0, cutBeforeAcknowledging: Double = 0,
        duplicateDelivery: Double = 0, delay: ClosedRange<Duration> = .zero ... .zero
    ) {
        self.refuseConnection = refuseConnection
        self.cutBeforeStoring = cutBeforeStoring
        self.cutBeforeAcknowledging = cutBeforeAcknowledging
        self.duplicateDelivery = duplicateDelivery
        self.delay = delay
    }
}

/// Draws faults from random numbers.
struct Dice: Sendable {
    private var generator: any RandomNumberGenerator & Sendable

    init(_ generator: any RandomNumberGenerator & Sendable) { self.generator = generator }

    /// Draws whether an event of this probability happens. Certain and impossible events use no random number, so a
    /// disabled fault does not change the run of a seed.
    mutating func happens(_ probability: Double) -> Bool {
        guard probability > 0 else { return false }
        guard probability < 1 else { return true }
        return draw(0..<1) < probability
    }

    /// A random duration within `range`.
    mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
        guard range.lowerBound < range.upperBound else { return range.lowerBound }
        return range.lowerBound + (range.upperBound - range.lowerBound) * draw(0..<1)
    }

    private mutating func draw(_ range: Range<Double>) -> Double { Double.random(in: range, using: &generator) }
}
