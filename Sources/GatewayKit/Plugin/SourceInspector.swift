public import Vitals

/// Says what a file has that devices can be configured for. A plugin whose devices are files has one, so that the command
/// `sources` knows them.
public protocol SourceInspector: Sendable {
    /// What it recognises, for the message about a file that no inspector knows: a noun, such as `a database that the app exported`.
    static var takes: String { get }
    /// Says what is at a path: a file, or a folder, of which the newest file of its kind counts. It may block, and changes nothing.
    /// - Parameters:
    ///   - calendar: for values of a local day.
    ///   - now: records of the future are not counted.
    /// - Returns: `nil` if the file is not of its kind.
    /// - Throws: a `SourceError` with the remedy if the file is of its kind and cannot be read.
    static func inspect(
        _ path: String, calendar: LocalCalendar, now: Timestamp
    ) throws(SourceError) -> SourceReport?
}

/// Why a source cannot be read.
public struct SourceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for a person, with what to do.
    public var description: String

    /// An error with a sentence for a person.
    public init(_ description: String) { self.description = description }
}

/// The devices of a file, for the configuration.
public struct SourceReport: Sendable, Hashable {
    /// The file that was read.
    public var file: String
    /// What it is, such as `an export of Gadgetbridge, schema 137`.
    public var kind: String
    /// What it has, each of which can be a device.
    public var devices: [Device]

    /// A report about a file.
    public init(file: String, kind: String, devices: [Device]) {
        self.file = file
        self.kind = kind
        self.devices = devices
    }

    /// What may become a device of the gateway.
    public struct Device: Sendable, Hashable {
        /// Its name, for people; empty if nothing says it.
        public var name: String
        /// What kind of device it is, for people, such as a maker's wearables with one format; `nil` if nothing says it.
        public var family: String?
        /// What it has, by metric.
        public var records: [Records]
        /// What of it gives no sample.
        public var omissions: [Omission]
        /// Notes for the person who chooses it, each a sentence.
        public var notes: [String]
        /// The driver that reads it.
        public var driver: String
        /// The driver's options, which the gateway takes as they are.
        public var options: [Option]
        /// What to mind of its entry, a sentence; `nil` if nothing.
        public var remark: String?

        /// What may become a device.
        public init(
            name: String, family: String? = nil, records: [Records], omissions: [Omission] = [], notes: [String] = [],
            driver: String, options: [Option], remark: String? = nil
        ) {
            self.name = name
            self.family = family
            self.records = records
            self.omissions = omissions
            self.notes = notes
            self.driver = driver
            self.options = options
            self.remark = remark
        }
    }

    /// The samples of a metric.
    public struct Records: Sendable, Hashable {
        /// The metric.
        public var metric: Metric
        /// How many samples there are.
        public var count: Int
        /// When the first one begins.
        public var first: Timestamp
        /// When the last one begins.
        public var last: Timestamp
        /// Where they come from, such as names of tables.
        public var places: [String]

        /// The samples of a metric.
        public init(_ metric: Metric, count: Int, first: Timestamp, last: Timestamp, places: [String]) {
            self.metric = metric
            self.count = count
            self.first = first
            self.last = last
            self.places = places
        }
    }

    /// Something that gives no sample.
    public struct Omission: Sendable, Hashable {
        /// Where it is, such as a table.
        public var place: String
        /// How many rows, if they were counted.
        public var count: Int?
        /// Why, as a part of a sentence.
        public var reason: String

        /// Something that gives no sample.
        public init(_ place: String, count: Int? = nil, reason: String) {
            self.place = place
            self.count = count
            self.reason = reason
        }
    }

    /// An option of a driver.
    public struct Option: Sendable, Hashable {
        /// Its key.
        public var key: String
        /// Its value.
        public var value: String

        /// An option of a driver.
        public init(_ key: String, _ value: String) { (self.key, self.value) = (key, value) }
    }
}
