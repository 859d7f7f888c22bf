/// The limits of a configuration file. Each is far above the needs of a home or a ward, and keeps an error (a wrong
/// path, a runaway script) from using up the machine's memory.
package enum ConfigurationLimits {
    /// The maximum file size: 4 MiB, which is 400 bytes for each of the maximum number of devices. The files of the folder of
    /// `devices_from` have as much together.
    package static let fileSize = 4 << 20
    /// The maximum devices of one gateway. Tests ran with a thousand; broker and store would support ten times that.
    package static let devices = 10_000
    /// The maximum files in the folder of `devices_from`: each is opened for every reload. A script that needs more devices can write
    /// them into fewer files.
    package static let deviceFiles = 1000
    /// The maximum keys and values of a file with aliases expanded: fifty per device at the maximum number of devices.
    /// A few lines of nested aliases could expand to billions. The files of `devices_from` have as many together.
    package static let values = 500_000
    /// The maximum depth of nested lists and maps. No known setting goes beyond 6.
    package static let depth = 32
    /// Brokers of a cluster that are tried in order.
    package static let brokers = 16
    /// Times of the day in one `quiet_hours`.
    package static let quietHours = 32
    /// People who share one device: user slots of scales and cuffs have one or two digits.
    package static let people = 100
    /// The maximum characters of a device's or a person's name: as many as a user interface can show.
    package static let nameLength = 128
    /// The maximum reported errors. A file with more of them is probably the wrong file.
    package static let issues = 100
}
