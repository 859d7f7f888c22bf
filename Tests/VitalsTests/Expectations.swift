import Testing
import Vitals

/// Parses a moment in RFC 3339, or fails the test.
func moment(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> Timestamp {
    try #require(Timestamp(rfc3339: text), sourceLocation: location)
}

/// Parses a date, or fails the test.
func day(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> LocalDay {
    try #require(LocalDay(text), sourceLocation: location)
}

/// The setting at a path, or a test failure.
func setting(_ path: String, _ location: SourceLocation = #_sourceLocation) throws -> MonitorSetting {
    try #require(MonitorSetting(path: path), sourceLocation: location)
}
