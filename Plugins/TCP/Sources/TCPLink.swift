import GatewayKit
import NIOCore

/// An open TCP connection.
struct TCPLink: ByteLink {
    let channel: any Channel
    let inbox: ReceiveBuffer
    let endpoint: Endpoint
    /// Whether the bytes go through TLS.
    var isEncrypted = false

    /// Takes what was received, or waits for it.
    ///
    /// Cancelling a read throws and leaves the connection as it is: the next read gets the bytes.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        try await inbox.read(atMost: limit) { channel.read() }
    }

    /// Sends bytes in one piece, and returns when the system's send buffer has taken the last of them.
    ///
    /// Cancelling a write closes the connection, because it is unknown how much was sent.
    func write(_ bytes: [UInt8]) async throws(LinkError) {
        guard !bytes.isEmpty else { return }
        do {
            try await withTaskCancellationHandler {
                try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            throw Task.isCancelled ? .closed(endpoint) : .broken(error, endpoint)
        }
    }

    /// Runs `body`, and closes the connection when it ends.
    func use(_ body: (TCPLink) async throws -> Void) async throws {
        do { try await body(self) } catch {
            await close()
            throw error
        }
        await close()
    }

    /// Closes the connection. Reads and writes in progress fail.
    func close() async {
        // Fails only if the connection is closed already.
        try? await channel.close().get()
    }
}
