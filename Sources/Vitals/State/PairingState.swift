/// The pairing of a device whose passkey a person types.
package struct PairingState: Sendable, Hashable {
    /// The raw value is the name on the wire.
    package enum Phase: String, CaseIterable, Sendable, Hashable {
        /// No passkey is requested.
        case idle
        /// The device shows a passkey, and waits for it.
        case passkey
        /// The device has the passkey, and checks it.
        case checking
        case paired
        case failed
    }

    package var phase: Phase
    /// Until when the passkey can be given; `nil` if it is not asked for.
    package var until: Timestamp?
    /// Why the pairing has failed.
    package var message: String?
    package var at: Timestamp

    package init(_ phase: Phase, until: Timestamp? = nil, message: String? = nil, at: Timestamp) {
        self.phase = phase
        self.until = until
        self.message = message
        self.at = at
    }
}
