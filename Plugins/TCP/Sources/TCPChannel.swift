import NIOPosix

/// The thread that serves all connections, those that are opened and those that are accepted.
enum TCPChannel {
    /// One thread serves all connections: it only copies bytes, drivers decode on the shared pool. Like SwiftNIO's own
    /// shared groups, it lives as long as the process.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}
