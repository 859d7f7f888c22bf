internal import CMosquitto
import Glibc

/// libmosquitto at full speed: QoS 1, a fixed number of messages in flight, and nothing else.
final class BarePublisher {
    /// A greater window slows libmosquitto down: it searches the list of messages in flight.
    private static let window = 200

    private var acknowledged = 0
    private var published = 0
    private var isConnected = false

    /// Publishes for a time. Returns the messages per second that the broker acknowledged and the subscriber received.
    static func rate(port: UInt16, seconds: Double, arrivals: Arrivals) throws -> Double {
        let loop = BarePublisher()
        return try loop.run(port: port, seconds: seconds, arrivals: arrivals)
    }

    private func run(port: UInt16, seconds: Double, arrivals: Arrivals) throws -> Double {
        Mosquitto.prepare()
        guard let client = mosquitto_new(nil, true, Unmanaged.passUnretained(self).toOpaque()) else {
            throw BenchError("libmosquitto gives no client.")
        }
        defer { mosquitto_destroy(client) }
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_max_inflight_messages_set(client, UInt32(Self.window))
        mosquitto_publish_callback_set(client) { _, context, _ in
            guard let context else { return }
            Unmanaged<BarePublisher>.fromOpaque(context).takeUnretainedValue().acknowledged += 1
        }
        mosquitto_connect_callback_set(client) { _, context, code in
            guard let context else { return }
            Unmanaged<BarePublisher>.fromOpaque(context).takeUnretainedValue().isConnected = code == 0
        }
        guard mosquitto_connect(client, "127.0.0.1", Int32(port), 60) == MOSQ_ERR_SUCCESS.rawValue else {
            throw BenchError("The bare loop cannot connect with the broker.")
        }
        while !isConnected, mosquitto_loop(client, 20, 1) == MOSQ_ERR_SUCCESS.rawValue {}
        let payload = Self.payload
        let before = arrivals.messages
        let start = Instant.steady
        while Instant.seconds(since: start) < seconds {
            while published - acknowledged < Self.window {
                guard mosquitto_publish(client, nil, Topics.bare, Int32(payload.count), payload, 1, false) == 0 else {
                    break
                }
                published += 1
            }
            guard mosquitto_loop(client, 20, 1) == MOSQ_ERR_SUCCESS.rawValue else {
                throw BenchError("The bare loop has lost the broker.")
            }
        }
        // The subscriber is part of the loop: messages that it has not received in time do not count.
        let rate = Double(arrivals.messages - before) / Instant.seconds(since: start)
        while acknowledged < published, mosquitto_loop(client, 100, 1) == MOSQ_ERR_SUCCESS.rawValue {}
        _ = Instant.wait(upTo: 30) { arrivals.messages - before >= published }
        mosquitto_disconnect(client)
        return rate
    }

    /// The gateway's payload for one live sample.
    private static let payload = Array(
        (#"{"schema":"vitals2mqtt.measurement/1","gateway":"home","device":"bare","person":null,"metric":"heart_rate","#
            + #""unit":"bpm","source":"live","historical":false,"seq":100000,"published_at":"2026-11-21T07:31:04.120Z","#
            + #""samples":[{"id":"5f0c6b0e-6d1d-5b0a-9a53-0d6a0f4f6a11","rev":1,"start":"2026-11-20T22:10:00.000Z","#
            + #""end":"2026-11-20T22:10:00.000Z","utc_offset_min":60,"value":58,"fields":null,"kind":"normal","#
            + #""user_initiated":false,"exercise":null,"received_at":"2026-11-21T07:31:03.900Z"}]}"#).utf8)
}
