/// How the connection with a device stands.
package struct LinkState: Sendable, Hashable {
    /// The phases of a connection. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case disabled, connecting, connected, waiting }

    /// The phase.
    package var phase: Phase
    /// Since when.
    package var since: Timestamp
    /// Attempts to connect since it was last connected.
    package var attempts: Int
    /// The strength of the radio signal in dBm, where the link has one.
    package var signalStrength: Int?
    /// How far the device's clock was ahead of ours when it was connected, in seconds.
    package var clockSkew: Double?
    /// Why the last connection failed or broke, for a person.
    package var lastError: String?

    package init(
        phase: Phase, since: Timestamp, attempts: Int = 0, signalStrength: Int? = nil, clockSkew: Double? = nil,
        lastError: String? = nil
    ) {
        self.phase = phase
        self.since = since
        self.attempts = attempts
        self.signalStrength = signalStrength
        self.clockSkew = clockSkew
        self.lastError = lastError
    }
}
