/// What connects the gateway with one device.
public enum Link: Sendable {
    /// No link: the driver is the device, or reaches it in a way of its own.
    case none
    /// A stream of bytes in both directions.
    case bytes(any ByteLink)
    /// A Bluetooth Low Energy connection: services, characteristics, notifications.
    case gatt(any GATTLink)
}

/// The kinds of link.
public enum LinkKind: String, Sendable, Hashable { case none, bytes, gatt }

/// A stream of bytes in both directions: TCP, a serial line, a child process, a recording that is played back.
public protocol ByteLink: Sendable {
    /// Waits for bytes and returns all that are there, at most `limit`. An empty array is the stream's end.
    ///
    /// Not reading is the flow control: the other side is slowed down once the system's buffers are full. One task reads
    /// at a time.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8]
    /// Sends bytes, and returns when the system took them. Calls of several tasks do not mix their bytes.
    ///
    /// Cancelling it may end the link, as nobody could tell how much was sent: a driver does not let the tasks of its callers
    /// write.
    func write(_ bytes: [UInt8]) async throws(LinkError)
}

/// Why a link could not be opened, or broke.
public struct LinkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Code: String, Sendable, Hashable {
        /// There is nothing at the other end, or it refuses. Trying again later may help.
        case unreachable
        /// The link was open and broke.
        case broken
        /// The other side does not answer.
        case timeout
        /// The gateway closes the link.
        case cancelled
    }
    /// What happened, for a program.
    public var code: Code
    /// What happened, for a person: in one sentence, with what to do about it where that is known.
    public var message: String

    /// An error of a link.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The text for a person.
    public var description: String { message }
}
