internal import CMosquitto
import Concurrency
internal import Glibc
import MQTT
import Synchronization

/// The network thread.
///
/// It does not use libmosquitto's own loop, which reconnects by itself, reads one wake-up per published message, and
/// waits with `select`. `select` fails from file descriptor 1,024 on, and a gateway with many TCP devices has those.
extension MosquittoConnection {
    /// Interval of libmosquitto's keep-alive check on an idle connection, in milliseconds.
    private static let tick: Int32 = 1_000
    /// Time limit for sending the queue and the graceful disconnect. A stop of the gateway has 5 s in all.
    private static let disconnectTimeout = Duration.seconds(2)
    /// Time limit for an abrupt disconnect. A cancelled stop has 1 s in all.
    private static let abruptTimeout = Duration.milliseconds(500)

    /// Starts the network thread, which connects.
    func start() throws(BrokerError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let handle = try MosquittoHandle(options, version: version, server: server, context: context)
        setCallbacks(handle.pointer)
        self.handle.withLock { $0 = handle }
        do {
            try NetworkThread.start { self.run(handle.pointer) }
        } catch {
            destroy()
            throw error
        }
    }

    /// The properties of CONNECT: the largest packet that the broker may send.
    private var connectProperties: OpaquePointer? {
        var list: OpaquePointer?
        guard version == .v5 else { return nil }
        let name = Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue)
        mosquitto_property_add_int32(&list, name, UInt32(BrokerOptions.maximumInboundPacket))
        return list
    }

    private func run(_ pointer: OpaquePointer) {
        let (seconds, _) = options.keepAlive.components
        errno = 0
        var properties = connectProperties
        let code = mosquitto_connect_bind_v5(pointer, server.host, Int32(server.port), Int32(seconds), nil, properties)
        let systemError = errno
        mosquitto_property_free_all(&properties)
        let end: (code: Int32, systemError: Int32)
        if code == MOSQ_ERR_SUCCESS.rawValue {
            end = serve(pointer)
            if opened.value == nil { refusal.withLock { $0 = VersionChoice.Refusal(endOfAttempt: end.code) } }
        } else {
            end = (code, systemError)
        }
        let error: BrokerError
        if let reason = disconnectReason.withLock({ $0 }), reason != 0 {
            error = .broken(reason, server: server)
        } else {
            error = .broken(end.code, server: server)
        }
        opened.fulfil(
            .failure(
                .notOpened(
                    end.code, systemError: end.systemError, log: log.withLock { $0 }, server: server,
                    tls: code == MOSQ_ERR_SUCCESS.rawValue ? options.tls : nil)))
        inbox.end(error)
        for reply in subscriptions.withLock({ $0.takeAll() }) { reply.fulfil(.failure(error)) }
        destroy()
        finished.fulfil(.success(()))
    }

    /// Transfers packets until the connection ends; returns the reason.
    private func serve(_ pointer: OpaquePointer) -> (code: Int32, systemError: Int32) {
        var deadline: ContinuousClock.Instant?
        var descriptors = [pollfd(), pollfd()]
        turns.begin()
        defer { turns.end() }
        while true {
            turns.turn()
            if deadline == nil, let disconnect = disconnect.withLock({ $0 }) {
                guard sendDisconnect(disconnect, pointer) else { return (MOSQ_ERR_SUCCESS.rawValue, 0) }
                deadline = .now + (disconnect == .graceful ? Self.disconnectTimeout : Self.abruptTimeout)
            }
            let socket = mosquitto_socket(pointer)
            guard socket >= 0 else { return (MOSQ_ERR_CONN_LOST.rawValue, 0) }
            if let deadline, .now >= deadline { return (MOSQ_ERR_TIMEOUT.rawValue, 0) }
            // A full inbox holds the broker back by the flow control of TCP. The reader wakes the thread.
            let isFull = inbox.isFilling
            let wanted = (isFull ? 0 : Int16(POLLIN)) | (mosquitto_want_write(pointer) ? Int16(POLLOUT) : 0)
            descriptors[0] = pollfd(fd: socket, events: wanted, revents: 0)
            descriptors[1] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptors, nfds_t(descriptors.count), deadline == nil ? Self.tick : 100)
            errno = 0
            let code = move(pointer, socket: descriptors[0].revents, wakeUp: descriptors[1].revents)
            let systemError = errno
            inbox.wake()
            guard code == MOSQ_ERR_SUCCESS.rawValue else { return (code, systemError) }
        }
    }

    /// Reads, writes and checks the keep-alive once.
    private func move(_ pointer: OpaquePointer, socket: Int16, wakeUp wake: Int16) -> Int32 {
        if wake != 0 {
            wakeUp.clear()
            // Cleared before the check for data to write: a later publication wakes the thread again.
            isAwake.store(false, ordering: .sequentiallyConsistent)
        }
        // Also read when the socket has failed: libmosquitto then reports the reason.
        if socket & ~Int16(POLLOUT) != 0 {
            let code = mosquitto_loop_read(pointer, 1)
            guard code == MOSQ_ERR_SUCCESS.rawValue else { return code }
        }
        if mosquitto_want_write(pointer) {
            let code = mosquitto_loop_write(pointer, 1)
            guard code == MOSQ_ERR_SUCCESS.rawValue else { return code }
        }
        guard mosquitto_socket(pointer) >= 0 else { return MOSQ_ERR_CONN_LOST.rawValue }
        return mosquitto_loop_misc(pointer)
    }

    /// Sends the DISCONNECT packet; `false` when only closing the socket is possible.
    private func sendDisconnect(_ disconnect: Disconnect, _ pointer: OpaquePointer) -> Bool {
        let reason: mqtt5_return_codes
        switch (disconnect, version) {
        case (.graceful, _): reason = MQTT_RC_NORMAL_DISCONNECTION
        case (.abrupt, .v5): reason = MQTT_RC_DISCONNECT_WITH_WILL_MSG
        case (.abrupt, .v311): return false
        }
        return mosquitto_disconnect_v5(pointer, Int32(reason.rawValue), nil) == MOSQ_ERR_SUCCESS.rawValue
    }

    private func destroy() {
        handle.withLock { handle in
            guard let owned = handle.take() else { return }
            mosquitto_destroy(owned.pointer)
        }
    }
}
