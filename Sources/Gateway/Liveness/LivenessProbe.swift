import Concurrency
package import Vitals

/// Asks a part of the gateway for an answer within a limit.
package struct LivenessProbe: Sendable {
    package let part: LivenessPart
    package let limit: Duration
    /// Returns when the part has answered.
    package let ask: @Sendable () async -> Void

    /// A probe with the part's own limit, or another one for a test.
    package init(_ part: LivenessPart, limit: Duration? = nil, ask: @escaping @Sendable () async -> Void) {
        self.part = part
        self.limit = limit ?? part.limit
        self.ask = ask
    }

    /// The probe of a part that has to end: its answer is its end.
    init(_ part: LivenessPart, limit: Duration? = nil, ends: [Promise<Void>]) {
        self.init(part, limit: limit ?? LivenessPart.endLimit) {
            for end in ends { try? await end.wait() }
        }
    }
}
