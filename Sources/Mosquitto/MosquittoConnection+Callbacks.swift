internal import CMosquitto
import Concurrency
import MQTT
import Synchronization

/// libmosquitto's callbacks, on the network thread. They only record events.
extension MosquittoConnection {
    /// Maximum log lines for an error message; OpenSSL writes a few.
    private static let maximumLogLines = 8

    func setCallbacks(_ pointer: OpaquePointer) {
        mosquitto_connect_v5_callback_set(pointer) { pointer, context, code, _, properties in
            MosquittoConnection.from(context)?.didConnect(code, properties, pointer)
        }
        mosquitto_disconnect_v5_callback_set(pointer) { _, context, code, _ in
            MosquittoConnection.from(context)?.disconnectReason.withLock { $0 = $0 ?? code }
        }
        mosquitto_publish_v5_callback_set(pointer) { _, context, id, code, _ in
            guard let connection = MosquittoConnection.from(context) else { return }
            let refusal = BrokerRefusal(code: UInt8(truncatingIfNeeded: code))
            if let settlement = connection.inFlight.settle(id, refusal: refusal) { connection.report(settlement) }
        }
        mosquitto_message_v5_callback_set(pointer) { _, context, message, properties in
            guard let connection = MosquittoConnection.from(context), let message else { return }
            connection.inbox.receive(
                InboundMessage(
                    message.pointee, properties: properties,
                    maximumPayload: connection.options.maximumInboundPayload))
        }
        mosquitto_subscribe_v5_callback_set(pointer) { _, context, id, count, codes, _ in
            guard let codes, count > 0 else { return }
            let code = codes[0]
            let reply = MosquittoConnection.from(context)?.subscriptions.withLock { $0.remove(id, code) }
            reply?.fulfil(.success(code))
        }
        // Only until the connection is open: afterwards libmosquitto would format a line for every packet.
        mosquitto_log_callback_set(pointer) { _, context, level, text in
            guard level & (MOSQ_LOG_ERR | MOSQ_LOG_WARNING) != 0, let text else { return }
            let line = String(cString: text)
            MosquittoConnection.from(context)?.log.withLock { lines in
                if lines.count < MosquittoConnection.maximumLogLines { lines.append(line) }
            }
        }
    }

    private func didConnect(_ code: Int32, _ properties: OpaquePointer?, _ pointer: OpaquePointer?) {
        guard code == 0 else {
            let error = BrokerError.connectionRefused(code, by: server, version: version)
            if error.code == .unsupportedVersion { refusal.withLock { $0 = .said } }
            opened.fulfil(.failure(error))
            return
        }
        var maximum: UInt16 = 0
        let name = Int32(MQTT_PROP_RECEIVE_MAXIMUM.rawValue)
        if mosquitto_property_read_int16(properties, name, &maximum, false) != nil {
            inFlight.limit(to: Int(maximum))
        }
        var size: UInt32 = 0
        let limit = Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue)
        if mosquitto_property_read_int32(properties, limit, &size, false) != nil {
            packetLimit.store(Int(size), ordering: .relaxed)
        }
        mosquitto_log_callback_set(pointer, nil)
        opened.fulfil(.success(()))
    }

    /// The connection of a callback. The network thread retains it as long as there are callbacks.
    private static func from(_ context: UnsafeMutableRawPointer?) -> MosquittoConnection? {
        context.map { Unmanaged<MosquittoConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}
