/// The connection between the gateway and one device.
public enum Link: Sendable {
    /// No link: the driver is the device, or reaches it by its own means.
    case none
    /// A stream of bytes in both directions.
    case bytes(any ByteLink)
    /// A Bluetooth Low Energy connection: services, characteristics, notifications.
    case gatt(any GATTLink)
    /// Whole documents, which the device sends when it likes, and each of which gets an answer.
    case documents(any DocumentLink)
}

/// The kinds of link.
public enum LinkKind: String, Sendable, Hashable { case none, bytes, gatt, documents }

/// A stream of bytes in both directions: TCP, a serial line, a child process, the replay of a recording.
public protocol ByteLink: Sendable {
    /// Waits for bytes and returns all that have arrived, at most `limit`. An empty array is the stream's end.
    ///
    /// Not reading is the flow control: once the system's buffers are full, the other side slows down. One task reads
    /// at a time.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8]
    /// Sends bytes, and returns when the system has taken them. Concurrent calls do not interleave their bytes.
    ///
    /// Cancelling a write may end the link, as it is unknown how much was sent. So a driver must not write in its
    /// callers' tasks.
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
        /// The gateway closed the link.
        case cancelled
        /// The device has sent all that it had to send for now. This is no failure: the gateway waits for it again at once.
        case ended
    }
    /// What happened, for a program.
    public var code: Code
    /// What happened, for a person: one sentence, with the remedy if it is known.
    public var message: String

    /// An error of a link.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The text for a person.
    public var description: String { message }
}
