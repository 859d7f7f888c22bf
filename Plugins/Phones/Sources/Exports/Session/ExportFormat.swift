package import GatewayKit
package import Vitals

/// What has a watch of folders.
package protocol ExportSection: Sendable {
    /// The name of the plugin's section under `plugins:`.
    static var section: String { get }
}

/// The exports of one app, as the options of a device choose them. This is all that a driver for another app writes: where
/// exports appear, what an export has, and how its rows are read.
package protocol ExportFormat: ExportSection {
    /// The app's name, for people.
    static var app: String { get }
    /// The name of the driver.
    static var driver: String { get }
    /// The entry of a zip that is the database. No other entry is ever read.
    static var entry: String { get }

    /// Where exports appear below a path: a file, or a folder.
    static func place(_ path: String) -> ExportPlace
    /// All that an export has records of, each with the options that choose it.
    /// - Throws: `foreign` if the database is no export of this app.
    static func devices(in database: ExportDatabase) throws(ExportError) -> [ExportedDevice]

    /// Reads the options of a device. It opens nothing.
    init(_ options: inout ConfigurationReader)
    /// Where the exports of this device appear.
    var place: ExportPlace { get }
    /// What an export has of this device.
    /// - Throws: `foreign` if the database is no export of this app, `missing` with the choice if it does not have the device.
    func device(in database: ExportDatabase) throws(ExportError) -> ExportedDevice
}

/// The part of an export that belongs to one device.
package struct ExportedDevice: Sendable {
    /// A charge of the device's battery.
    package struct Charge: Sendable, Hashable {
        package var percent: Double
        package var at: Timestamp

        package init(percent: Double, at: Timestamp) { (self.percent, self.at) = (percent, at) }
    }

    /// Its number in this export.
    package var number: Int64
    /// Its name, for people.
    package var name: String
    /// What kind of wearable it is, for people; `nil` for an app.
    package var family: String?
    /// The options beside `path` that choose it.
    package var options: [(key: String, value: String)] = []
    /// What it says of itself.
    package var identity: DeviceIdentity
    /// Its newest charge.
    package var battery: Charge?
    /// The sources of each metric.
    package var feeds: [Metric: [any Feed]]
    /// Tables with rows of it that no rule knows.
    package var unknownTables: [String] = []
    /// Rows of it that no feed reads, by table and reason. Those that a feed skips come with its reading.
    package var skippedRows: [String: [SkippedRows.Reason: Int]] = [:]
    /// Notes for the person who chooses it, each a sentence.
    package var notes: [String] = []
    /// What to mind of its entry in the configuration, a sentence.
    package var remark: String?

    package init(number: Int64, name: String, identity: DeviceIdentity, feeds: [Metric: [any Feed]]) {
        self.number = number
        self.name = name
        self.identity = identity
        self.feeds = feeds
    }

    /// The metrics that the export has, each with a history.
    package var capabilities: Capabilities { Capabilities(feeds.mapValues { _ in .history }) }
}
