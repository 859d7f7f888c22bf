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

    /// A weight of one of two persons.
    private static let question = Question(
        id: SampleID(name: "weight"), metric: .weight, measuredAt: Examples.now, candidates: [2, 1, 7])

    /// The question whose a sample is.
    static let whose: [(name: String, message: OutgoingMessage)] = [
        ("whose", Examples.encoder.whose(WhoseState([question]), of: Examples.device, info: Examples.info)),
        (
            "question",
            {
                var encoder = Examples.encoder
                return encoder.fact(
                    Fact(sequence: 184_469, lane: .alert, device: Examples.device, content: .question(question)),
                    info: Examples.info, publishedAt: Examples.now)
            }()
        ),
    ]
}
