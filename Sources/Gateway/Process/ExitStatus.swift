/// How a command ended, by the numbers of sysexits.h (4.3BSD) that service managers know.
package enum ExitStatus: Int32, Sendable, Hashable {
    /// It did what it was asked.
    case success = 0
    /// The command line makes no sense (`EX_USAGE`).
    case usage = 64
    /// Something failed that the user did not cause (`EX_SOFTWARE`).
    case `internal` = 70
    /// The configuration has mistakes, or is missing (`EX_CONFIG`). Starting again does not help.
    case configuration = 78
}
