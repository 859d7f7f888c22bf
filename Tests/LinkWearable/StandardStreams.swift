import Foundation
import GatewayKit
import Synchronization

/// Standard input and output as a link.
final class StandardStreams: ByteLink {
    private let input: AsyncStream<[UInt8]>
    private let output = Mutex(FileHandle.standardOutput)

    init() {
        let (input, received) = AsyncStream.makeStream(of: [UInt8].self)
        self.input = input
        // Reading blocks, so it has its own thread.
        Thread.detachNewThread {
            while case let data = FileHandle.standardInput.availableData, !data.isEmpty {
                received.yield([UInt8](data))
            }
            received.finish()
        }
    }

    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        for await bytes in input { return bytes }
        return []
    }

    /// Writes, and blocks while no process reads.
    func write(_ bytes: [UInt8]) async throws(LinkError) {
        do {
            try output.withLock { try $0.write(contentsOf: bytes) }
        } catch {
            throw LinkError(.broken, "The gateway does not read: \(error)")
        }
    }

    /// Writes a line to standard error.
    static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
