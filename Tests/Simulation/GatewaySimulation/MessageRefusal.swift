import GatewayTesting
import JSON
import MQTT
import TestSupport
import Vitals

/// The messages that a broker does not take, and how it refuses them.
enum MessageRefusal: Sendable, CustomStringConvertible {
    /// It cuts the connection at every message on a topic of this filter.
    case cutsTopic(String)
    /// It cuts the connection at the facts whose number has this remainder.
    case cutsNumbers(divisor: Int, remainder: Int)
    /// It cuts the connection at longer payloads, and does not say so beforehand.
    case cutsLonger(Int)
    /// It announces that it takes no longer packets.
    case announcesLimit(Int)
    /// It refuses messages on a topic of this filter.
    case refusesTopic(String, BrokerRefusal)

    /// A response topic that the sender of a command chooses.
    static let chosenTopic = "elsewhere/answers"

    /// A refusal that the gateway can detect: with MQTT 3.1.1 a broker can only cut the connection.
    static func random(_ devices: [DeviceID], version: MQTTVersion, using random: inout SplitMix64) -> Self {
        switch Int.random(in: 0..<(version == .v5 ? 5 : 3), using: &random) {
        case 0: return .cutsTopic(topic(devices, using: &random))
        case 1:
            let divisor = Int.random(in: 2...60, using: &random)
            return .cutsNumbers(divisor: divisor, remainder: Int.random(in: 0..<divisor, using: &random))
        case 2: return .cutsLonger(Int.random(in: 5_000...20_000, using: &random))
        case 3: return .announcesLimit(Int.random(in: 1_500...6_000, using: &random))
        default:
            let reasons: [BrokerRefusal] = [
                .notAuthorized, .notAuthorized, .invalidTopic, .invalidPayload, .packetTooLarge, .quotaExceeded,
                .other(0x80),
            ]
            let reason = reasons.randomElement(using: &random) ?? .notAuthorized
            return .refusesTopic(topic(devices, using: &random), reason)
        }
    }

    /// Topics of facts and states. Answers to the usual topics are always taken: an answer that is given up is not kept.
    private static func topic(_ devices: [DeviceID], using random: inout SplitMix64) -> String {
        let device = devices.randomElement(using: &random)?.text ?? "+"
        let topics = [
            "\(device)/measurement/heart_rate", "\(device)/measurement/#", "+/measurement/#",
            "+/measurement/blood_pressure",
            "\(device)/event/#", "+/event/gap", "+/daily/#", "+/latest/#", "\(device)/link", "+/sync", "+/config/#",
        ].map { "vitals2mqtt/home/\($0)" }
        return (topics + [chosenTopic]).randomElement(using: &random) ?? chosenTopic
    }

    /// Lets the broker refuse these messages from now on.
    func begin(_ broker: InMemoryBroker) {
        switch self {
        case .cutsTopic(let filter):
            let filter = TopicFilter(filter)
            broker.cutAt { filter.matches($0.topic) }
        case .cutsNumbers(let divisor, let remainder):
            broker.cutAt { message in
                (try? JSONValue(parsing: message.payload))?["seq"]?.asInt.map { $0 % divisor == remainder } ?? false
            }
        case .cutsLonger(let size): broker.cutAt { $0.payload.count > size }
        case .announcesLimit(let size):
            broker.limitPackets(to: size)
            broker.cut()
        case .refusesTopic(let filter, let reason): broker.forbid(filter, reason)
        }
    }

    /// Lets the broker take everything again.
    static func end(_ broker: InMemoryBroker) {
        broker.cutAt(nil)
        broker.limitPackets(to: nil)
        broker.allowAll()
    }

    var description: String {
        switch self {
        case .cutsTopic(let filter): "cuts the connection at messages on \(filter)"
        case .cutsNumbers(let divisor, let remainder):
            "cuts the connection at facts whose number has the remainder \(remainder) of \(divisor)"
        case .cutsLonger(let size): "cuts the connection at payloads of more than \(size) bytes"
        case .announcesLimit(let size): "takes no packets of more than \(size) bytes"
        case .refusesTopic(let filter, let reason): "refuses messages on \(filter): \(reason)"
        }
    }
}
