/// What a configuration file may not exceed. Each limit is far above what a home or a ward needs, and keeps a mistake (a
/// wrong path, a script that ran away) from taking the machine's memory.
package enum ConfigurationLimits {
    /// The greatest file: 4 MiB, which is 400 bytes for each of the most devices.
    package static let fileSize = 4 << 20
    /// Devices of one gateway. Tests ran with a thousand; broker and store would take ten times that.
    package static let devices = 10_000
    /// Keys and values of a file, after aliases were replaced: fifty for each of the most devices. A few lines of aliases of
    /// aliases could stand for billions.
    package static let values = 500_000
    /// How deep lists and maps may be nested. Nothing that is known here goes beyond 6.
    package static let depth = 32
    /// Brokers of a cluster that are tried in order.
    package static let brokers = 16
    /// Times of the day in one `quiet_hours`.
    package static let quietHours = 32
    /// People who share one device: user slots of scales and cuffs have one or two digits.
    package static let people = 100
    /// Characters of a name of a device or a person: what a user interface can show.
    package static let nameLength = 128
    /// Bytes of a file that holds a secret: the longest password that MQTT takes (MQTT 5, 3.1.3.6).
    package static let secretSize = 65_535
    /// Mistakes that are reported. A file with more of them is not what it was thought to be.
    package static let mistakes = 100
}
