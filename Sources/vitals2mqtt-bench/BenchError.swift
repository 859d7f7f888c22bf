import Glibc

/// Why something cannot be measured.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// What a system call said, with what was tried.
    static func system(_ what: String, _ code: Int32) -> BenchError {
        BenchError("\(what): \(String(cString: strerror(code))).")
    }
}
