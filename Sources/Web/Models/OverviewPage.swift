/// The first page: people, their newest values, last night, and what needs attention.
struct OverviewPage: Hashable, Sendable {
    var frame: Frame
    /// What is not as it should be, apart from alerts: devices that were not heard, the broker, the disk.
    var concerns: [Notice]
    var warnings: AlertList
    /// In the order of their names; devices without a person come last.
    var people: [PersonCard]
}

/// Alerts that are active, or warnings that nobody has acknowledged.
struct AlertList: Hashable, Sendable {
    /// `alerts`, or of one device `alerts.<id>`.
    var key: String
    var alerts: [ActiveAlert]
}

/// An alert that is active.
struct ActiveAlert: Hashable, Sendable {
    /// By `Wording.name(of:)`.
    var rule: String
    var person: String?
    /// The device's id, which the form sends.
    var device: String
    var deviceName: String
    /// The id of the raised edge, which the form sends.
    var edge: String
    /// The value, with its unit; `nil` where the device does not say it.
    var value: String?
    /// The limit, with its unit; `nil` if the device has raised the alert itself.
    var limit: String?
    var raised: Moment
    var acknowledged: Acknowledgement?
}

/// That somebody has seen an alert.
struct Acknowledgement: Hashable, Sendable {
    /// Who; `nil` if he has not said it.
    var by: String?
    var time: Moment
}

/// A person, or the devices that belong to nobody.
struct PersonCard: Hashable, Sendable {
    /// An identifier of the element, such as `person-1`: not the name, which may be any text.
    var anchor: String
    var name: String
    var values: [ValueTile]
    /// `nil` if no device counts anything.
    var sums: DaySums?
    /// `nil` if no device knows sleep.
    var lastNight: NightCard?
    var devices: [DeviceRow]
}

/// The newest value of a metric.
struct ValueTile: Hashable, Sendable {
    /// `value.<device>.<metric>`, of a device for several with `.<user>`
    var key: String
    var label: String
    /// The value; `nil` if there has been none.
    var text: String?
    var unit: String?
    var measured: Moment?
    /// Whether it is older than the metric's values stay fresh.
    var isStale: Bool
    /// Whether an alert is active for the metric.
    var isAlarming: Bool
    var deviceName: String
    /// The device's page of the metric.
    var link: String
    /// The last 24 hours.
    var sparkSVG: String?
}

/// What was counted today.
struct DaySums: Hashable, Sendable {
    /// `sums.<anchor>`
    var key: String
    var figures: [Figure]
}

/// The night that ended today.
struct NightCard: Hashable, Sendable {
    /// `night.<anchor>`
    var key: String
    /// `nil` if none is known yet.
    var night: Night?
}

/// A device in a list, with its condition.
struct DeviceRow: Hashable, Sendable {
    /// `device.<id>`
    var key: String
    var name: String
    var link: String
    /// Its link, whether it is worn, what is pending: the most important first.
    var marks: [Mark]
    /// `64 %`
    var battery: String?
    /// When it was last heard.
    var heard: Moment?
}
