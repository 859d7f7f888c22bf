import Foundation

/// Standard error, for what is no result.
enum StandardError {
    static func write(_ text: String) {
        // Where nobody reads it, nobody misses it.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
