import Glibc

/// Why a measurement is impossible.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// The error of a system call, with what was attempted.
    static func system(_ what: String, _ code: Int32) -> BenchError {
        BenchError("\(what): \(String(cString: strerror(code))).")
    }
}
