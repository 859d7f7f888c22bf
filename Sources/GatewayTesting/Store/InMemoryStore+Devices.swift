package import Engines
package import Vitals

extension InMemoryStore {
    /// What is known of a device.
    package func load(_ device: DeviceID) async throws(StoreError) -> DeviceRecord {
        try transaction(.load) { state in
            if state.devices[device] == nil { state.devices[device] = Device() }
            return state.devices[device]?.record ?? DeviceRecord()
        }
    }

    /// Keeps samples, and what is decided about them.
    package func take(_ intake: Intake) async throws(StoreError) -> IntakeResult {
        try transaction(.take) { state in
            var device = state.devices[intake.device] ?? Device()
            let outcomes = intake.samples.map { device.keep($0, at: intake.receivedAt) }
            let decision = intake.decide(outcomes)
            for (metric, cursor) in intake.cursors { device.record.cursors[metric] = cursor }
            for level in decision.levels { device.record.levels[level.rule] = level }
            for (metric, mark) in decision.highWater { device.record.highWater[metric] = mark }
            device.record.latest = decision.ledger.latest
            device.record.unsettledDays.formUnion(decision.unsettledDays)
            state.devices[intake.device] = device
            for (lane, content) in decision.facts { state.append(content, to: lane, of: intake.device) }
            return IntakeResult(
                ledger: decision.ledger, new: outcomes.count { $0.novelty == .new },
                corrected: outcomes.count { $0.novelty == .corrected }, known: outcomes.count { $0.novelty == .known },
                levels: decision.levels, unsettledDays: decision.unsettledDays)
        }
    }

    /// Keeps changed parts of the state.
    package func save(_ changes: [DeviceChange], of device: DeviceID) async throws(StoreError) {
        try transaction(.save) { state in
            var record = state.devices[device]?.record ?? DeviceRecord()
            for change in changes {
                switch change {
                case .identity(let identity, let capabilities):
                    record.identity = identity
                    record.capabilities = capabilities
                case .hasBattery: record.hasBattery = true
                case .cursor(let metric, let cursor): record.cursors[metric] = cursor
                case .twin(let twin): record.twin = twin
                case .level(let level): record.levels[level.rule] = level
                case .lastSeen(let moment): record.lastSeen = moment
                case .lastSync(let moment): record.lastSyncAt = moment
                }
            }
            state.devices[device, default: Device()].record = record
        }
    }

    /// Forgets a device's state. What belongs to its samples stays.
    package func forget(_ device: DeviceID) async throws(StoreError) {
        try transaction(.save) { state in
            guard let record = state.devices[device]?.record else { return }
            var kept = DeviceRecord()
            kept.latest = record.latest
            kept.highWater = record.highWater
            kept.unsettledDays = record.unsettledDays
            state.devices[device]?.record = kept
        }
    }

    /// The devices that have state.
    package func knownDevices() async throws(StoreError) -> [DeviceID] {
        try transaction(.read) { state in state.devices.keys.sorted { $0.text < $1.text } }
    }
}

extension InMemoryStore.Device {
    /// Keeps a sample that is new, or has another content or a higher revision than the one that is kept.
    mutating func keep(_ incoming: Intake.Incoming, at now: Timestamp) -> SampleOutcome {
        guard let old = samples[incoming.id] else {
            let stored = StoredSample(
                sample: incoming.sample, id: incoming.id, revision: incoming.sample.revision ?? 1, receivedAt: now)
            samples[incoming.id] = stored
            return SampleOutcome(stored: stored, novelty: .new)
        }
        let isSame = old.sample.hasSameContent(as: incoming.sample)
        let isNewer = incoming.sample.revision.map { $0 > old.revision || $0 == old.revision && !isSame } ?? !isSame
        guard isNewer else { return SampleOutcome(stored: old, novelty: .known) }
        let revision = max(incoming.sample.revision ?? 0, old.revision + (isSame ? 0 : 1))
        let stored = StoredSample(sample: incoming.sample, id: incoming.id, revision: revision, receivedAt: now)
        samples[incoming.id] = stored
        return SampleOutcome(stored: stored, novelty: .corrected)
    }
}
