import JSON
package import Vitals

extension ContractEncoder {
    /// What a device is and can do.
    package func info(_ info: DeviceInfo) -> OutgoingMessage {
        message(.info(info.id), .info, capacity: 2048) { writer in
            writer.member("device", info.id.text)
            writer.member("name", info.name)
            writer.member("person", info.person)
            writer.key("people")
            writer.beginObject()
            for (slot, name) in info.people.sorted(by: { $0.key < $1.key }) {
                writer.key(escaping: String(slot))
                writer.string(name)
            }
            writer.endObject()
            writer.member("driver", info.driver)
            writer.member("transport", info.transport)
            writer.member("manufacturer", info.identity?.manufacturer)
            writer.member("model", info.identity?.model)
            writer.member("serial", info.identity?.serial)
            writer.member("firmware", info.identity?.firmware)
            writer.member("hardware", info.identity?.hardware)
            writer.key("capabilities")
            if let capabilities = info.capabilities { writer.write(capabilities) } else { writer.null() }
            writer.member("max_history_days", info.capabilities?.maximumHistoryDays)
        }
    }

    /// How the connection with a device stands.
    package func link(_ state: LinkState, of device: DeviceID) -> OutgoingMessage {
        message(.link(device), .link) { writer in
            writer.member("state", state.phase.rawValue)
            writer.member("since", state.since)
            writer.member("attempts", state.attempts)
            writer.member("rssi", state.signalStrength)
            writer.member("clock_skew_s", state.clockSkew)
            writer.member("last_error", state.lastError)
        }
    }

    /// The newest sample of a metric, without its value once it is not fresh any more at `now`.
    ///
    /// The message with the value is forgotten by the broker when the value stops being fresh; the one without a value
    /// stays.
    /// - Parameter person: whom the sample is about.
    package func latest(
        _ state: LatestState, of device: DeviceID, person: String?, now: Timestamp
    ) -> OutgoingMessage {
        let stored = state.stored
        let isStale = state.isStale || state.freshUntil.map { $0 <= now } ?? false
        var result = message(.latest(device, stored.sample.metric), .latest) { writer in
            writer.member("person", person)
            writer.member("metric", stored.sample.metric.rawValue)
            writer.member("value", isStale ? nil : stored.sample.value)
            writer.key("fields")
            if isStale { writer.null() } else { writer.fields(of: stored.sample.reading) }
            writer.member("unit", stored.sample.metric.unit)
            writer.member("measured_at", stored.sample.end)
            writer.member("fresh_until", state.freshUntil)
            writer.member("id", stored.id)
            writer.member("rev", stored.revision)
            writer.member("kind", stored.sample.kind.rawValue)
            writer.member("user_initiated", stored.sample.isUserInitiated)
        }
        if !isStale { result.expiry = state.freshUntil.map { $0 - now } }
        return result
    }

    /// How the synchronisation of a device's history stands.
    package func sync(_ state: SyncState, of device: DeviceID) -> OutgoingMessage {
        message(.sync(device), .sync) { writer in
            writer.member("state", state.phase.rawValue)
            writer.member("job", state.job)
            writer.member("metric", state.metric?.rawValue)
            writer.member("metrics_done", state.metricsDone)
            writer.member("metrics_total", state.metricsTotal)
            writer.member("samples_new", state.samplesNew)
            writer.member("samples_known", state.samplesKnown)
            writer.member("failed", failures: state.failed)
            writer.member("oldest", state.oldest)
            writer.member("newest", state.newest)
            writer.member("started_at", state.startedAt)
            writer.member("last_success_at", state.lastSuccessAt)
            writer.member("error", state.error)
        }
    }

    /// How the measurement of a device stands.
    package func measure(_ state: MeasureState, of device: DeviceID) -> OutgoingMessage {
        message(.measure(device), .measure) { writer in
            writer.member("state", state.phase.rawValue)
            writer.member("metric", state.metric?.rawValue)
            writer.member("started_at", state.startedAt)
            writer.member("value", state.reading?.number)
            writer.key("fields")
            if let reading = state.reading { writer.fields(of: reading) } else { writer.null() }
            writer.member("error", state.error)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ capabilities: Capabilities) {
        beginObject()
        for metric in Metric.allCases {
            guard let abilities = capabilities.metrics[metric] else { continue }
            key(escaping: metric.rawValue)
            beginObject()
            for (name, ability) in Abilities.named
            where metric == .heartRate || Abilities.heartRateOnly.isDisjoint(with: ability) {
                key(escaping: name)
                bool(abilities.contains(ability))
            }
            endObject()
        }
        endObject()
    }

    /// Writes the metrics that could not be synchronised, with the reasons.
    mutating func member(_ key: StaticString, failures: [SyncState.Failure]) {
        member(key, array: failures) { writer, failure in
            writer.beginObject()
            writer.member("metric", failure.metric.rawValue)
            writer.member("code", failure.code.rawValue)
            writer.member("message", failure.message)
            writer.endObject()
        }
    }
}

extension Reading {
    /// The number of a reading in progress; a workout has none before it ends.
    fileprivate var number: Double? {
        switch self {
        case .value(let value): value
        case .steps(let steps): Double(steps.count)
        case .sleep(let sleep): Double(sleep.minutesAsleep)
        case .bloodPressure, .sport: nil
        }
    }
}
