import GatewayKit
import NIOCore
import NIOPosix

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension LinkError {
    /// The error after the gateway itself closed the connection.
    static func closed(_ endpoint: Endpoint) -> LinkError {
        LinkError(.cancelled, "The connection to \(endpoint) was closed by the gateway.")
    }

    /// The error for a failure of an open connection.
    static func broken(_ error: any Error, _ endpoint: Endpoint) -> LinkError {
        if let error = error as? LinkError { return error }
        let reason =
            switch (error as? IOError)?.errnoCode {
            case ECONNRESET, EPIPE: "the other side closed it"
            case ETIMEDOUT: "the other side no longer answers"
            default: error is ChannelError ? "it is closed" : "\(error)"
            }
        return LinkError(.broken, "The connection to \(endpoint) broke: \(reason).")
    }

    /// The error for a failed attempt to connect, with the remedy.
    static func cannotConnect(_ error: any Error, to endpoint: Endpoint, within timeout: Duration) -> LinkError {
        if let error = error as? LinkError { return error }
        if let error = error as? ChannelError, case .connectTimeout = error { return .noAnswer(endpoint, timeout) }
        var failure = error
        // Of a name; it has the errors of all its addresses.
        if let error = error as? NIOConnectionError {
            guard let last = error.connectionErrors.last?.error else {
                return LinkError(
                    .unreachable,
                    "The name \(endpoint.host) cannot be resolved. Check its spelling and the name server, or write the IP address."
                )
            }
            failure = last
        }
        switch (failure as? IOError)?.errnoCode {
        case ECONNREFUSED:
            return LinkError(
                .unreachable,
                "Nothing listens at \(endpoint) (connection refused). Is the device's program running, and is the port right?"
            )
        case EHOSTUNREACH, ENETUNREACH:
            return LinkError(
                .unreachable,
                "\(endpoint) cannot be reached from this network. Is the device switched on and connected?")
        case ETIMEDOUT: return .noAnswer(endpoint, timeout)
        default:
            if let failure = failure as? ChannelError, case .connectTimeout = failure {
                return .noAnswer(endpoint, timeout)
            }
            return LinkError(.unreachable, "No connection to \(endpoint): \(failure).")
        }
    }

    private static func noAnswer(_ endpoint: Endpoint, _ timeout: Duration) -> LinkError {
        LinkError(
            .timeout,
            "\(endpoint) did not answer within \(timeout.configurationText). Is the device switched on, and does a firewall let it pass?"
        )
    }
}
