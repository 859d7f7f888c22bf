import Concurrency
package import Logging
package import MQTT
import Synchronization

/// A real broker, reached with libmosquitto. Each connection is a separate libmosquitto client.
package final class MosquittoBroker: Broker {
    private let options: BrokerOptions
    private let logger: Logger
    private let nextServer = Atomic(0)
    private let current = Mutex<MosquittoConnection?>(nil)
    /// The last attempt at each server that failed. It may hang in a name look-up or in connecting for minutes after it was given
    /// up, with a thread and two descriptors, so the next attempt at this server has to wait for its end.
    private let failed = Mutex<[BrokerServer: MosquittoConnection]>([:])

    /// The broker at the servers of `options`.
    /// - Throws: `BrokerError` `.invalidOptions` that names the option to change.
    package init(_ options: BrokerOptions, logger: Logger) throws(BrokerError) {
        try options.validate()
        self.options = options
        self.logger = logger
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
        if let earlier = failed.withLock({ $0[server] }) {
            do {
                try await earlier.finished.value(
                    within: options.timeout,
                    orTimeOut: "\(server) does not answer; an earlier attempt to connect has not ended yet.")
            } catch {
                if error.code != .cancelled { skip(turn) }
                throw error
            }
            failed.withLock { $0[server] = nil }
        }
        let connection = try MosquittoConnection(options: options, server: server)
        var hasThread = false
        do {
            try connection.start()
            hasThread = true
            try await connection.opened.value(
                within: options.timeout, orTimeOut: "\(server) did not answer in \(options.timeout).")
        } catch {
            // No wait: the thread may hang in a name look-up or a connection attempt, and ends by itself.
            connection.leave(.abrupt)
            if hasThread { failed.withLock { $0[server] = connection } }
            if error.code != .cancelled {
                skip(turn)
                logger.debug("Broker not connected", metadata: ["mqtt.error": "\(error)"])
            }
            throw error
        }
        logger.debug(
            "Broker connected", metadata: ["mqtt.server": "\(server)", "mqtt.window": "\(connection.window)"])
        return connection
    }

    /// Makes the server after this turn's the current one.
    private func skip(_ turn: Int) { nextServer.store((turn + 1) % options.servers.count, ordering: .relaxed) }

    private func leave(_ connection: MosquittoConnection, _ disconnect: MosquittoConnection.Disconnect) async {
        connection.leave(disconnect)
        _ = await connection.finished.waitUncancelled()
        logger.debug("Broker disconnected", metadata: ["mqtt.server": "\(connection.server)"])
    }
}
