internal import CMosquitto
import Foundation

/// An independent subscriber: libmosquitto on its own thread, QoS 1, with a session that outlives a restart of the
/// broker, so that the broker keeps messages for it until it is back.
final class Subscriber: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    private let isEnding = Signpost()
    private let isSubscribed = Signpost()

    init(port: UInt16, arrivals: Arrivals) throws {
        Mosquitto.prepare()
        let context = Context(arrivals: arrivals, isSubscribed: isSubscribed)
        let (isEnding, finished) = (isEnding, finished)
        Thread.detachNewThread {
            Self.run(port: port, context: context, isEnding: isEnding)
            finished.signal()
        }
        guard Instant.wait(upTo: 10, until: { isSubscribed.isSet }) else {
            throw BenchError("The subscriber cannot connect with the broker.")
        }
    }

    /// Ends the subscriber.
    func end() {
        isEnding.set()
        finished.wait()
    }

    /// The object that the callbacks use.
    private final class Context: Sendable {
        let arrivals: Arrivals
        let isSubscribed: Signpost
        init(arrivals: Arrivals, isSubscribed: Signpost) {
            self.arrivals = arrivals
            self.isSubscribed = isSubscribed
        }
    }

    private static func run(port: UInt16, context: Context, isEnding: Signpost) {
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        guard let client = mosquitto_new("bench-subscriber", false, pointer) else { return }
        defer { mosquitto_destroy(client) }
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_connect_callback_set(client) { client, _, code in
            guard code == 0 else { return }
            for filter in Topics.filters { mosquitto_subscribe(client, nil, filter, 1) }
        }
        mosquitto_subscribe_callback_set(client) { _, context, _, _, _ in
            guard let context else { return }
            Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().isSubscribed.set()
        }
        mosquitto_message_callback_set(client) { _, context, message in
            guard let context, let message = message?.pointee, let topic = message.topic else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().arrivals.record(topic: topic, payload: payload)
        }
        var code = mosquitto_connect(client, "127.0.0.1", Int32(port), 60)
        while !isEnding.isSet {
            if code == MOSQ_ERR_SUCCESS.rawValue {
                code = mosquitto_loop(client, 50, 1)
            } else {
                Instant.pause(seconds: 0.02)
                code = mosquitto_reconnect(client)
            }
        }
        mosquitto_disconnect(client)
        withExtendedLifetime(context) {}
    }
}
