/// The limits of commands and their answers.
package enum CommandLimits {
    /// Bytes of a payload. The greatest useful one, a whole configuration, has two thousand.
    package static let payload = 256 * 1024
    /// Bytes of an `id`: room for two UUIDs and a name. It is stored with the answer.
    package static let idLength = 128
    /// Bytes of the correlation data. MQTT allows 65,535, but they are held while the command runs, and stored with the
    /// answer; request libraries use up to 40.
    package static let correlation = 1_024
    /// Bytes of a page's name; the gateway's own have 40.
    package static let pageLength = 128
    /// Bytes of a path that an answer repeats; the gateway's own have 40.
    package static let pathLength = 128
    /// Bytes of a command's name that an answer repeats.
    package static let commandNameLength = 64
    /// The range of a commanded measurement, in seconds. Most devices need 30 to 60 s for one value, and a sensor that
    /// is on for longer than ten minutes drains the battery.
    package static let measurementSeconds = 5...600
    /// The default length of a commanded measurement, in seconds.
    package static let defaultMeasurementSeconds = 60
    /// The range of a scan, in seconds. Devices advertise at least every 10.24 s (Bluetooth Core Specification, Vol 6, Part B,
    /// 4.4.2.2.1), and of a few advertisements one is heard.
    package static let scanSeconds = 1...60
    /// The default length of a scan, in seconds.
    package static let defaultScanSeconds = 10
    /// Samples of one page. 500 plain samples have about 150 KiB.
    package static let historyPage = 1...500
    /// The default number of samples of one page.
    package static let defaultHistoryPage = 200
    /// Days of one answer.
    package static let days = 366
    /// Facts of one replay: about what a broker takes within a minute, so that live values are not delayed for long.
    package static let replay: Int64 = 100_000
    /// How far a consumer's clock may be ahead of the gateway's before a moment counts as in the future.
    package static let clockTolerance = Duration.seconds(60)
    /// Violations that an answer lists; a payload of 256 KiB could have tens of thousands.
    package static let violations = 100
}
