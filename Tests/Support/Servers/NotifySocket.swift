import Dispatch
import Glibc

/// A service manager for a test: the socket of sd_notify(3), with what was sent to it.
package final class NotifySocket: Sendable {
    /// The messages so far, each with all its lines.
    package let messages = Recorder<String>()
    /// The value for `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
    package let address: String

    fileprivate let queue = DispatchQueue(label: "notify", target: .global())

    fileprivate init(_ address: String) { self.address = address }

    /// The number of signs of life so far.
    package var signs: Int { messages.elements.count { $0 == "WATCHDOG=1" } }

    /// Reads nothing while `body` runs: the queue of the socket may then be full.
    package func withoutReading<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        queue.suspend()
        defer { queue.resume() }
        return try await body()
    }

    fileprivate func receive(from descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
            messages.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
    }
}

/// Runs `body` with a socket of sd_notify(3) at this address: a path, or `@` and an abstract name.
package func withNotifySocket<Result>(
    at address: String, _ body: (NotifySocket) async throws -> Result
) async throws -> Result {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    guard descriptor >= 0 else { throw ProgramError(description: "There is no socket.") }
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8)
    if address.hasPrefix("@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    // An abstract name has its exact length; a path may end anywhere after its zero byte.
    let length = MemoryLayout<sa_family_t>.size + bytes.count + (address.hasPrefix("@") ? 0 : 1)
    let isBound = withUnsafeBytes(of: &name) { name in
        name.baseAddress.map { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(length)) } == 0
    }
    guard isBound else {
        close(descriptor)
        throw ProgramError(description: "\(address) cannot be bound: \(String(cString: strerror(errno)))")
    }
    let socket = NotifySocket(address)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: socket.queue)
    source.setEventHandler { socket.receive(from: descriptor) }
    source.setCancelHandler { close(descriptor) }
    source.resume()
    defer { source.cancel() }
    return try await body(socket)
}
