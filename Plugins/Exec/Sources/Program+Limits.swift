import GatewayKit
import Glibc

/// A program with limits is started by prlimit(1), which limits itself and then becomes the program: same process, same
/// pipes, same session. The gateway cannot set them in the child between `fork` and `exec`, and after `exec` it would be
/// late: the program runs already. A shell's `ulimit` is no better: its options differ from shell to shell.
extension Program {
    /// Where prlimit is: a part of util-linux, which is on every usual distribution.
    private static let limiter = ["/usr/bin/prlimit", "/bin/prlimit"].first(where: isExecutable)

    /// The program, its arguments, and before them what limits them; `nil` without limits.
    var limitedCommand: [String]? {
        let options = limits.options + inheritedOptions
        guard !options.isEmpty, let limiter = Self.limiter, isThere else { return nil }
        return [limiter] + options + ["--", name] + arguments
    }

    /// The soft limit of descriptors that the gateway was started with, in place of the one that it has raised.
    private var inheritedOptions: [String] {
        guard limits.descriptors == nil, let descriptors = originalDescriptors else { return [] }
        return ["--nofile=\(descriptors):"]
    }

    /// Checks that the program can be limited and found. prlimit would say either only by its exit status.
    func checkLimits() throws(LinkError) {
        guard !limits.isEmpty else { return }
        guard Self.limiter != nil else {
            throw LinkError(
                .unreachable,
                "The program \(name) cannot be limited without prlimit. Install util-linux, or remove limits.")
        }
        guard isThere else { throw LinkError(.unreachable, notFound) }
    }

    private var isThere: Bool {
        if name.hasPrefix("/") { return Self.isExecutable(name) }
        let folders = environment()["PATH"]?.split(separator: ":") ?? []
        return folders.contains { Self.isExecutable("\($0)/\(name)") }
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// Why the link broke. Only the program knows whether a limit was the reason, so its limits are named.
    func failed(_ how: String) -> LinkError {
        let limits = limits.isEmpty ? "" : " Its limits are \(limits.text); the log has what it said."
        return LinkError(.broken, "The program \(name) \(how).\(limits)")
    }
}
