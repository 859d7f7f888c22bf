package import Vitals

extension FaultyStore: GatewayStore {
    package var identity: SampleID { base.identity }

    package func load(_ device: DeviceID) async throws(StoreError) -> DeviceRecord {
        try await through(.load) { () async throws(StoreError) in try await base.load(device) }
    }

    package func ingest(_ ingest: Ingest) async throws(StoreError) -> IngestResult {
        try await through(.ingest) { () async throws(StoreError) in try await base.ingest(ingest) }
    }

    package func save(_ changes: [DeviceChange], of device: DeviceID) async throws(StoreError) {
        try await through(.save) { () async throws(StoreError) in try await base.save(changes, of: device) }
    }

    package func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await through(.samples) { () async throws(StoreError) in
            try await base.samples(
                of: device, metric: metric, starting: range, isUserInitiated: isUserInitiated, after: after,
                limit: limit)
        }
    }

    package func waiting(of device: DeviceID, limit: Int) async throws(StoreError) -> [StoredSample] {
        try await through(.waiting) { () async throws(StoreError) in try await base.waiting(of: device, limit: limit) }
    }

    package func occasion(
        of id: SampleID, of device: DeviceID
    ) async throws(StoreError) -> [StoredSample] {
        try await through(.occasion) { () async throws(StoreError) in
            try await base.occasion(of: id, of: device)
        }
    }

    package func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at moment: Timestamp
    ) async throws(StoreError) -> DayRecord {
        try await through(.settle) { () async throws(StoreError) in
            try await base.settle(summary, of: device, isFinal: isFinal, at: moment)
        }
    }

    package func storeDeviceSummary(
        _ summary: DailySummary, of device: DeviceID, at moment: Timestamp
    ) async throws(StoreError) -> Bool {
        try await through(.storeDeviceSummary) { () async throws(StoreError) in
            try await base.storeDeviceSummary(summary, of: device, at: moment)
        }
    }

    package func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        try await through(.days) { () async throws(StoreError) in
            try await base.days(of: device, metric: metric, in: range, limit: limit)
        }
    }

    package func samplesWithOffset(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try await through(.samples) { () async throws(StoreError) in
            try await base.samplesWithOffset(of: device, metric: metric, starting: range, after: after, limit: limit)
        }
    }

    package func report(_ gap: Gap, of devices: [DeviceID]) async throws(StoreError) {
        try await through(.report) { () async throws(StoreError) in try await base.report(gap, of: devices) }
    }

    package func notes(of device: DeviceID) async throws(StoreError) -> [String: [UInt8]] {
        try await through(.notes) { () async throws(StoreError) in try await base.notes(of: device) }
    }

    package func saveNotes(_ changes: [String: [UInt8]?], of device: DeviceID) async throws(StoreError) {
        try await through(.saveNotes) { () async throws(StoreError) in
            try await base.saveNotes(changes, of: device)
        }
    }

    package func begin(
        _ envelope: CommandEnvelope, key: String, at moment: Timestamp
    ) async throws(StoreError) -> CommandBeginning {
        try await through(.begin) { () async throws(StoreError) in
            try await base.begin(envelope, key: key, at: moment)
        }
    }

    package func complete(_ answer: StoredAnswer) async throws(StoreError) {
        try await through(.complete) { () async throws(StoreError) in try await base.complete(answer) }
    }

    package func unanswered(after: Int64, limit: Int) async throws(StoreError) -> [UnansweredCommand] {
        try await through(.unanswered) { () async throws(StoreError) in
            try await base.unanswered(after: after, limit: limit)
        }
    }

    package func pending(_ lane: Lane, after: Int64, limit: Int) async throws(StoreError) -> [OutboxEntry] {
        try await through(.pending) { () async throws(StoreError) in
            try await base.pending(lane, after: after, limit: limit)
        }
    }

    package func acknowledge(_ lane: Lane, through number: Int64) async throws(StoreError) {
        try await through(.acknowledge) { () async throws(StoreError) in
            try await base.acknowledge(lane, through: number)
        }
    }

    package func note(_ lane: Lane, through number: Int64) {
        if !isCrashed { base.note(lane, through: number) }
    }

    package func facts(_ numbers: ClosedRange<Int64>, limit: Int) async throws(StoreError) -> [Fact] {
        try await through(.facts) { () async throws(StoreError) in try await base.facts(numbers, limit: limit) }
    }

    package func quarantine(_ facts: [RefusedFact], at moment: Timestamp) async throws(StoreError) {
        try await through(.quarantine) { () async throws(StoreError) in try await base.quarantine(facts, at: moment) }
    }

    package func releaseQuarantined(_ numbers: [Int64]) async throws(StoreError) {
        try await through(.releaseQuarantined) { () async throws(StoreError) in
            try await base.releaseQuarantined(numbers)
        }
    }

    package func statistics() async throws(StoreError) -> StoreStatistics {
        try await through(.statistics) { () async throws(StoreError) in try await base.statistics() }
    }

    package func clean(at moment: Timestamp, byAge: Bool) async throws(StoreError) -> Bool {
        try await through(.clean) { () async throws(StoreError) in
            try await base.clean(at: moment, byAge: byAge)
        }
    }

    package func forget(_ device: DeviceID) async throws(StoreError) {
        try await through(.forget) { () async throws(StoreError) in try await base.forget(device) }
    }

    package func knownDevices() async throws(StoreError) -> [DeviceID] {
        try await through(.knownDevices) { () async throws(StoreError) in try await base.knownDevices() }
    }
}
