internal import CMosquitto
internal import Glibc
import MQTT

/// The system's text for an `errno` number.
func systemMessage(_ number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &buffer, buffer.count) == 0 else { return "system error \(number)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// A flag that any thread can set. One thread waits for it with `poll`, together with a socket. Owns its file
/// descriptor.
final class WakeUp: Sendable {
    /// The file descriptor for `poll`.
    let descriptor: Int32

    /// - Throws: `BrokerError` when the process has no file descriptor left.
    init() throws(BrokerError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else {
            throw BrokerError(.unreachable, "No file descriptor is left: \(systemMessage(errno)). Raise the limit.")
        }
    }

    deinit { close(descriptor) }

    func set() {
        var one: UInt64 = 1
        // It fails only when the flag is already set.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}

/// A separate thread for blocking calls: a thread of the shared pool must never wait for the network.
enum NetworkThread {
    /// What `top -H` and a debugger show; Linux keeps 15 bytes.
    private static let name = "broker_network"

    /// Runs `body` on a new detached thread.
    /// - Throws: `BrokerError` when the process may not have another thread.
    static func start(_ body: @escaping @Sendable () -> Void) throws(BrokerError) {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                // Signals are for the main program; a broken TLS connection must not raise SIGPIPE.
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_BLOCK, &all, nil)
                pthread_setname_np(pthread_self(), NetworkThread.name)
                if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw BrokerError(.unreachable, "No thread could be started: \(systemMessage(code)). Raise the limit.")
        }
        pthread_detach(thread)
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
