/// What a command may be at most.
package enum CommandLimits {
    /// Bytes of a payload. The greatest that makes sense, a whole configuration, has two thousand.
    package static let payload = 256 * 1024
    /// Bytes of an `id`: room for two UUIDs and a name. It is kept with the answer.
    package static let idLength = 128
    /// Bytes of a page's name; ours have 40.
    package static let pageLength = 128
    /// Bytes of a path that an answer repeats; ours have 40.
    package static let pathLength = 128
    /// Bytes of a command's name that an answer repeats.
    package static let commandNameLength = 64
    /// How long a commanded measurement may take, in seconds. Most devices need 30 to 60 s for one value, and a sensor
    /// that lights for longer than ten minutes drains the battery.
    package static let measurementSeconds = 5...600
    /// How long it takes unless told otherwise.
    package static let defaultMeasurementSeconds = 60
    /// Samples of one page. 500 plain ones have some 150 KiB.
    package static let historyPage = 1...500
    /// Samples of one page unless told otherwise.
    package static let defaultHistoryPage = 200
    /// Days of one answer.
    package static let days = 366
    /// Facts of one replay: at most what a broker takes within a minute, so that live values are not held up for long.
    package static let replay: Int64 = 100_000
    /// How far ahead of ours a consumer's clock may be before a moment counts as the future.
    package static let clockTolerance = Duration.seconds(60)
    /// Violations that an answer lists; a payload of 256 KiB could have tens of thousands.
    package static let violations = 100
}
