/// The outcome of a sample with a receipt.
public struct SettledReceipt: Sendable, Hashable {
    /// What the gateway did with a sample. All but a refused one are durable.
    public enum Outcome: Sendable, Hashable {
        /// It was not known before.
        case new
        /// A sample of the same time was known with other content: this one replaces it, with a higher revision.
        case corrected
        /// Nothing is new: it was known with the same content.
        case known
        /// It does not count: another record of the same thing does, such as the longer of two sleeps that overlap. It is kept as
        /// withdrawn.
        case superseded
        /// It is not plausible. Sending it again does not help.
        case refused(DeviceError)
    }
    /// The receipt.
    public var receipt: SampleReceipt
    /// What the gateway did with the sample.
    public var outcome: Outcome

    /// A receipt and what became of its sample.
    public init(_ receipt: SampleReceipt, _ outcome: Outcome) {
        self.receipt = receipt
        self.outcome = outcome
    }

    /// A refused sample or, without a refusal, a new one.
    package init(_ receipt: SampleReceipt, _ refusal: DeviceError?) {
        self.init(receipt, refusal.map { .refused($0) } ?? .new)
    }

    /// Why the sample was refused; `nil` if it is durable.
    public var refusal: DeviceError? {
        if case .refused(let error) = outcome { error } else { nil }
    }
}
