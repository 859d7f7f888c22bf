package import Vitals

/// Asks a part of the gateway, and returns when it has answered.
package struct HealthProbe: Sendable {
    package let part: HealthPart
    package let limit: Duration
    package let ask: @Sendable () async -> Void

    /// A probe with the part's own limit, or another one for a test.
    package init(_ part: HealthPart, limit: Duration? = nil, ask: @escaping @Sendable () async -> Void) {
        self.part = part
        self.limit = limit ?? part.limit
        self.ask = ask
    }
}
