package import Vitals

/// What pages and the API read of a gateway beside its present condition (`GatewayView`): its devices as configured, and what its store has.
///
/// Each call reads at most `limit` rows, on the store's own reader, so that delivery never waits for a page.
package protocol GatewayReader: Sendable {
    /// The devices, in the order of the configuration.
    var devices: [ConfiguredDevice] { get async }
    /// The newest states of a device: all parts that `D/…` retains. Empty for a device that is not there.
    func states(of device: DeviceID) async -> [DeviceState]
    /// Samples of a metric whose start lies in `range`, in key order, with those that were withdrawn, behind `after`.
    /// - Throws: `StoreError` if the store cannot be read.
    func samples(
        of device: DeviceID, _ metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample]
    /// The summaries of local days, in their order; the running day is as it is now.
    func days(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DailySummary]
    /// The same with revision, time, and the device's own summary.
    func dayRecords(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord]
    /// The edges of alerts, newest first, that were measured before a moment. Those of one moment are never separated, so there may be a
    /// few more than `limit`: the time of the last one is where the next page begins.
    func alerts(
        of device: DeviceID, before: Timestamp, limit: Int
    ) async throws(StoreError) -> [AlertEvent]
    /// What was lost, the newest first, as far back as a replay reaches.
    func gaps(of device: DeviceID, limit: Int) async throws(StoreError) -> [Gap]
}

extension GatewayReader {
    package func days(
        of device: DeviceID, _ metric: Metric, _ days: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DailySummary] {
        try await dayRecords(of: device, metric, days, limit: limit).map(\.summary)
    }
}

/// A device as the configuration has it.
package struct ConfiguredDevice: Sendable, Hashable {
    package var id: DeviceID
    package var name: String
    package var driver: String
    /// Whose it is; of a shared one `nil`.
    package var person: String?
    /// The persons of a shared device, by user slot.
    package var people: [Int: String]

    package init(id: DeviceID, name: String, driver: String, person: String? = nil, people: [Int: String] = [:]) {
        self.id = id
        self.name = name
        self.driver = driver
        self.person = person
        self.people = people
    }

    /// Whose its samples are.
    package var wearers: Wearers { Wearers(person: person, people: people) }
}

/// Takes commands as MQTT does: the same names, arguments, checks, limits and answers.
package protocol GatewayCommander: Sendable {
    /// Runs a command of the contract, and hands over each of its answers: `accepted` first where there is one, at last the final one. It
    /// returns when the command was taken or refused, and the command runs on if the caller leaves.
    /// - Parameters:
    ///   - device: whose command it is; `nil` for one of the gateway.
    ///   - name: as in the topic: `sync` of `D/command/sync`, or `config` for `D/config/set`.
    ///   - arguments: the payload, JSON.
    ///   - answer: called with each answer, the payload that MQTT would get.
    func perform(
        _ name: String, of device: DeviceID?, arguments: [UInt8],
        answer: @escaping @Sendable (_ payload: [UInt8], _ isFinal: Bool) -> Void
    ) async
}
