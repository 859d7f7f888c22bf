#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Handles writes to a program that has exited.
enum BrokenPipes {
    /// Turns such a write into an error instead of a `SIGPIPE`, which would end the gateway; swift-subprocess leaves
    /// this to its user. It is set once for the whole process. Programs start with the system's default again.
    static let areErrors: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return true
    }()
}
