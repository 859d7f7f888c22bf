/// State of the connection with a device.
package struct LinkState: Sendable, Hashable {
    /// The phases of a connection. The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable { case disabled, connecting, connected, waiting }

    /// The phase.
    package var phase: Phase
    /// When the phase began.
    package var since: Timestamp
    /// Attempts to connect since the last connection.
    package var attempts: Int
    /// Radio signal strength in dBm, if the link has one.
    package var signalStrength: Int?
    /// How far the device's clock was ahead of the gateway's at the connection, in seconds.
    package var clockSkew: Double?
    /// Why the last connection failed or broke, as text for people.
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
