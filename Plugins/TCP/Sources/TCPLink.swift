import GatewayKit
import NIOCore

/// An open TCP connection.
struct TCPLink: ByteLink {
    let channel: any Channel
    let inbox: Inbox
    let endpoint: Endpoint

    /// Takes what was received, and waits for it where there is nothing.
    ///
    /// A cancelled read throws and leaves the connection as it is: the bytes are there for the next one.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        try await inbox.read(atMost: limit) { channel.read() }
    }

    /// Sends bytes in one piece, and returns when the system's send buffer took the last of them.
    ///
    /// Cancelling a write closes the connection, because nobody could tell how much of it was sent.
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

    /// Closes the connection. Whoever reads or writes meanwhile is told.
    func close() async {
        // It fails only where the connection is closed already.
        try? await channel.close().get()
    }
}
