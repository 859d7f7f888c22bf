import Foundation

/// Standard error, for everything but results.
enum StandardError {
    static func write(_ text: String) {
        // Failures are ignored: the output has no reader then.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

/// Standard output, for results that appear immediately.
enum StandardOutput {
    static func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
