import Testing
import Vitals

/// The moment of a text in RFC 3339, or a failed test.
func moment(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> Timestamp {
    try #require(Timestamp(rfc3339: text), sourceLocation: location)
}

/// The date of a text, or a failed test.
func day(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> LocalDay {
    try #require(LocalDay(text), sourceLocation: location)
}

/// The setting at a path, or a failed test.
func setting(_ path: String, _ location: SourceLocation = #_sourceLocation) throws -> MonitorSetting {
    try #require(MonitorSetting(path: path), sourceLocation: location)
}
