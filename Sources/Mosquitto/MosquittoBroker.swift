import Concurrency
package import Logging
package import MQTT
import Synchronization

/// A real broker, reached with libmosquitto. Each connection is a separate libmosquitto client.
package final class MosquittoBroker: Broker {
    private let options: BrokerOptions
    private let logger: Logger
    private let nextServer = Atomic(0)
    private let versions: Mutex<VersionChoice>
    private let current = Mutex<MosquittoConnection?>(nil)
    /// The last attempt at each server that failed. It may hang in a name look-up or in connecting for minutes after it was given
    /// up, with a thread and two descriptors, so the next attempt at this server has to wait for its end.
    private let failed = Mutex<[BrokerServer: MosquittoConnection]>([:])

    /// The broker at the servers of `options`. Logs what is to know of the library, once.
    /// - Throws: `BrokerError` `.invalidOptions` that names the option to change.
    package init(
        _ options: BrokerOptions, logger: Logger, library: LibraryVersion = .loaded
    ) throws(BrokerError) {
        try options.validate()
        self.options = options
        self.logger = logger
        versions = Mutex(VersionChoice(options.version, library: library))
        if let notice = library.notice(for: options.version) { logger.warning("\(notice)") }
    }

    package func withConnection(_ body: @Sendable (any BrokerConnection) async throws -> Void) async throws {
        let connection = try await open()
        current.withLock { $0 = connection }
        defer { current.withLock { $0 = nil } }
        do {
            try await body(connection)
        } catch {
            await leave(connection, .abrupt)
            throw error
        }
        await leave(connection, .graceful)
    }

    /// Returns when the network thread of the open connection has taken a turn, which is within a second; at once if
    /// no connection is open.
    package func answer() async {
        guard let connection = current.withLock({ $0 }) else { return }
        connection.wakeNetworkThread()
        await connection.turns.answer()
    }

    /// Connects to the current server; after a failure the next server is the current one.
    private func open() async throws(BrokerError) -> MosquittoConnection {
        let turn = nextServer.load(ordering: .relaxed)
        let server = options.servers[turn % options.servers.count]
        do throws(BrokerError) {
            return try await open(server)
        } catch {
            if error.code != .cancelled {
                skip(turn)
                logger.debug("Broker not connected", metadata: ["mqtt.error": "\(error)"])
            }
            throw error
        }
    }

    /// Connects to a server, and at once once more with the other version of MQTT if that may be what it refused.
    private func open(_ server: BrokerServer) async throws(BrokerError) -> MosquittoConnection {
        let version = versions.withLock { $0.first(at: server) }
        let connection = try MosquittoConnection(options: options, server: server, version: version)
        do throws(BrokerError) {
            try await start(connection)
            connected(connection, after: nil)
            return connection
        } catch {
            // Another reason, such as a wrong password or a silent broker, says nothing of the version.
            let isOfVersion = [.unsupportedVersion, .unreachable, .tls].contains(error.code)
            let refusal = isOfVersion ? connection.refusal.withLock { $0 } : nil
            guard let other = versions.withLock({ $0.next(after: version, at: server, refusal) }) else { throw error }
            let second = try MosquittoConnection(options: options, server: server, version: other)
            try await start(second)
            connected(second, after: refusal)
            return second
        }
    }

    private func connected(_ connection: MosquittoConnection, after refusal: VersionChoice.Refusal?) {
        let (version, server) = (connection.version, connection.server)
        if versions.withLock({ $0.connected(version, to: server, after: refusal) }) {
            logger.warning(
                "The broker does not speak MQTT 5, so the gateway speaks 3.1.1. \(MQTTVersion.lossOf311)",
                metadata: ["mqtt.server": "\(server)"])
        }
        logger.debug(
            "Broker connected",
            metadata: [
                "mqtt.server": "\(server)", "mqtt.version": "\(version.rawValue)",
                "mqtt.window": "\(connection.window)",
            ])
    }

    /// Starts a connection, and returns when the broker has accepted it.
    private func start(_ connection: MosquittoConnection) async throws(BrokerError) {
        let server = connection.server
        if let earlier = failed.withLock({ $0[server] }) {
            try await earlier.finished.value(
                within: options.timeout,
                orTimeOut: "\(server) does not answer; an earlier attempt to connect has not ended yet.")
            failed.withLock { $0[server] = nil }
        }
        var hasThread = false
        do throws(BrokerError) {
            try connection.start()
            hasThread = true
            try await connection.opened.value(
                within: options.timeout, orTimeOut: "\(server) did not answer in \(options.timeout).")
        } catch {
            // No wait: the thread may hang in a name look-up or a connection attempt, and ends by itself.
            connection.leave(.abrupt)
            if hasThread { failed.withLock { $0[server] = connection } }
            throw error
        }
    }

    /// Makes the server after this turn's the current one.
    private func skip(_ turn: Int) { nextServer.store((turn + 1) % options.servers.count, ordering: .relaxed) }

    private func leave(_ connection: MosquittoConnection, _ disconnect: MosquittoConnection.Disconnect) async {
        connection.leave(disconnect)
        _ = await connection.finished.waitUncancelled()
        logger.debug("Broker disconnected", metadata: ["mqtt.server": "\(connection.server)"])
    }
}
