/// Why a command was not carried out. The raw value is the name on the wire.
package enum AnswerCode: String, CaseIterable, Sendable, Hashable {
    case badJSON = "bad_json"
    case unknownCommand = "unknown_command"
    case unknownDevice = "unknown_device"
    case invalid
    case unsupported
    case conflict
    case busy
    case notWorn = "not_worn"
    case lowBattery = "low_battery"
    case offline
    case disconnected
    case timeout
    case expired
    case idReused = "id_reused"
    case deviceError = "device_error"
    case tooLarge = "too_large"
}

/// The result of a command, or that it is under way.
package struct Answer: Sendable, Hashable {
    /// The raw value is the name on the wire. Exactly one of the others follows `accepted`.
    package enum Status: String, CaseIterable, Sendable, Hashable { case accepted, done, failed, rejected, expired }

    /// Data in an answer.
    package indirect enum Data: Sendable, Hashable {
        /// The result of a synchronisation.
        case sync(SyncState)
        /// The result of each device's synchronisation.
        case devices([DeviceID: Answer])
        /// A page of samples from the store, and the name of the next page.
        case samples([StoredSample], metric: Metric, next: String?)
        /// Days from the store.
        case days([DayRecord])
        /// Days from the store, with their samples.
        case itemisedDays([ItemisedDay])
        /// The newest sample of a measurement.
        case measurement(StoredSample?)
        /// The monitoring of these metrics, as read from the device.
        case settings(MonitorSettings, of: [Metric])
        /// Seconds that the device's clock was ahead of the gateway's before it was set.
        case clock(skew: Double?)
        /// Number of facts to be sent again.
        case replayed(Int)
        /// The configuration's version, and the settings not yet confirmed by the device.
        case version(Int, pending: Set<MonitorSetting>)
        /// Who has seen the alert first, and when.
        case acknowledged(Acknowledgement)
        /// Devices affected by a reload: names by kind.
        case names([String: [String]])
        /// Devices in reach.
        case nearby(ScanReport)
    }

    package var status: Status
    package var code: AnswerCode?
    package var message: String?
    package var violations: [Violation]
    package var data: Data?

    package init(
        _ status: Status, code: AnswerCode? = nil, message: String? = nil, violations: [Violation] = [],
        data: Data? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.violations = violations
        self.data = data
    }
}

/// A day with its samples.
package struct ItemisedDay: Sendable, Hashable {
    package var record: DayRecord
    /// Samples that a person or a command started, in ascending order.
    package var manual: [StoredSample]
    /// The other samples, in ascending order.
    package var automatic: [StoredSample]
    /// The page of `history` with the day's remaining samples, if any.
    package var next: String?

    package init(record: DayRecord, samples: [StoredSample], next: String?) {
        self.record = record
        manual = samples.filter(\.sample.isUserInitiated)
        automatic = samples.filter { !$0.sample.isUserInitiated }
        self.next = next
    }
}
