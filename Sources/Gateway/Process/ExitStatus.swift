/// A command's exit status, with the numbers of sysexits.h (4.3BSD) that service managers know.
package enum ExitStatus: Int32, Sendable, Hashable {
    /// The command succeeded.
    case success = 0
    /// The command line is wrong (`EX_USAGE`).
    case usage = 64
    /// An error that the user did not cause (`EX_SOFTWARE`).
    case `internal` = 70
    /// The stop took longer than its five seconds (`EX_TEMPFAIL`). Committed data is on disk; devices and consumers may
    /// have missed the graceful disconnect.
    case stopTimedOut = 75
    /// The configuration has errors, or is missing (`EX_CONFIG`). Starting again does not help.
    case configuration = 78
}
