import CSDBus
import Glibc

/// Why a call on the bus failed.
enum BusError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The other side refused it: the error's name, such as `org.bluez.Error.NotReady`, and its text.
    case reply(name: String, message: String)
    /// There was no answer in time.
    case timeout
    /// The connection to the bus is closed.
    case closed(String)
    /// The caller no longer waits.
    case cancelled
    /// The message cannot be made or read.
    case invalid(String)

    var description: String {
        switch self {
        case .reply(let name, let message): message.isEmpty ? name : "\(message) (\(name))"
        case .timeout: "there was no answer in time"
        case .closed(let reason): "the connection to D-Bus is closed: \(reason)"
        case .cancelled: "the caller no longer waits for the answer"
        case .invalid(let reason): reason
        }
    }

    /// Checks the result of a call of sd-bus, which is a negative error number after a failure.
    @discardableResult
    static func check(_ result: Int32, _ what: String) throws(BusError) -> Int32 {
        guard result < 0 else { return result }
        let reason = String(cString: strerror(-result))
        switch -result {
        case ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN: throw .closed("\(what): \(reason)")
        default: throw .invalid("\(what): \(reason)")
        }
    }

    /// The error that a message brings; `nil` if it is none.
    init?(in message: OpaquePointer) {
        guard let error = sd_bus_message_get_error(message) else { return nil }
        let name = error.pointee.name.map { String(cString: $0) } ?? ""
        let text = error.pointee.message.map { String(cString: $0) } ?? ""
        // sd-bus makes these two itself; the daemon's own `NoReply` says that the other side has gone.
        switch (name, text) {
        case ("org.freedesktop.DBus.Error.NoReply", "Method call timed out"),
            ("org.freedesktop.DBus.Error.Timeout", _):
            self = .timeout
        case ("org.freedesktop.DBus.Error.NoReply", "Connection terminated"),
            ("org.freedesktop.DBus.Error.Disconnected", _):
            self = .closed(text)
        default: self = .reply(name: name, message: text)
        }
    }
}
