import GatewayKit
import Glibc

/// The limit of the process's file descriptors (RLIMIT_NOFILE).
package enum DescriptorLimit {
    /// The usual limit, in case the system does not say it.
    private static let usual = 1024

    /// The limit in force. A process without a limit has `Int.max`.
    package static var current: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return usual }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the soft limit to the hard one, as far as the system permits. The soft limit is low for programs that use
    /// `select`, which the gateway does not.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let original = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        // Programs that the gateway starts get the original one.
        if original < limit.rlim_max, InheritedLimits.descriptors == nil {
            InheritedLimits.descriptors = Int(clamping: original)
        }
    }
}
