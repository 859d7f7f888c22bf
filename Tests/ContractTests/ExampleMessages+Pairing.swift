import Contract
import MQTT
import Vitals

extension ExampleMessages {
    /// The pairing of a device whose passkey a person types.
    static let pairing: [(name: String, message: OutgoingMessage)] = [
        (
            "pairing",
            Examples.encoder.pairing(
                PairingState(.passkey, until: Examples.now + .seconds(30), at: Examples.now), of: Examples.device)
        ),
        (
            "pairing-failed",
            Examples.encoder.pairing(
                PairingState(.failed, message: "No person gave the passkey in time.", at: Examples.now),
                of: Examples.device)
        ),
    ]
}
