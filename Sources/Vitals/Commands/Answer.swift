/// Why a command was not done. The raw value is the name on the wire.
package enum AnswerCode: String, CaseIterable, Sendable, Hashable {
    case badJSON = "bad_json"
    case unknownCommand = "unknown_command"
    case unknownDevice = "unknown_device"
    case invalid
    case unsupported
    case conflict
    case busy
    case offline
    case timeout
    case expired
    case deviceError = "device_error"
    case tooLarge = "too_large"
}

/// How a command ended, or that it is under way.
package struct Answer: Sendable, Hashable {
    /// The raw value is the name on the wire. `accepted` is followed by exactly one of the others.
    package enum Status: String, CaseIterable, Sendable, Hashable { case accepted, done, failed, rejected, expired }

    /// What a successful command gives back.
    package enum Data: Sendable, Hashable {
        /// Records that a synchronisation brought, and the metrics that failed.
        case sync(new: Int, known: Int, failed: [SyncState.Failure])
        /// A page of samples from the store, and the next page's name.
        case samples([StoredSample], metric: Metric, next: String?)
        /// Days from the store.
        case days([DayRecord])
        /// The newest sample of a measurement.
        case measurement(StoredSample?)
        /// The monitoring of these metrics that was read from the device.
        case settings(MonitorSettings, of: [Metric])
        /// The clock as it was before it was set: seconds ahead of ours.
        case clock(skew: Double?)
        /// How many facts are sent again.
        case replayed(Int)
        /// The configuration's version.
        case version(Int)
        /// Devices that a scan found, or that a reload touched: names by kind.
        case names([String: [String]])
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
