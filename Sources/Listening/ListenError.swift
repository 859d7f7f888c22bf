import GatewayKit
import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Why a service cannot listen: a sentence for a person.
package struct ListenError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The reason why listening at an address failed, with the remedy.
    package init(_ error: any Error, at address: ListenAddress) {
        let reason =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: "another program listens there. Stop that one, or choose another port"
            case EACCES: "the system does not allow it. Ports below 1024 need a privilege; choose a higher one"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "\(error)"
            }
        self.init("Cannot listen at \(address): \(reason).")
    }
}
