#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What happens when the gateway writes to a program that is gone.
enum BrokenPipes {
    /// Makes such a write an error of the write, once for the whole process. The system would end the gateway by `SIGPIPE`,
    /// and swift-subprocess leaves that to its user. Programs start with the system's default again.
    static let areErrors: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return true
    }()
}
