import JSON
package import MQTT
package import Vitals

extension ContractEncoder {
    /// The identity and capabilities of a device.
    package func info(_ info: DeviceInfo) -> OutgoingMessage {
        message(.info(info.id), .info, capacity: 2048) { writer in
            writer.member("device", info.id.text)
            writer.member("name", info.name)
            writer.member("person", info.person)
            writer.member("people") { writer in
                for (slot, name) in info.people.sorted(by: { $0.key < $1.key }) {
                    writer.key(escaping: String(slot))
                    writer.string(name)
                }
            }
            writer.member("driver", info.driver)
            writer.member("transport", info.transport)
            writer.member("manufacturer", info.identity?.manufacturer)
            writer.member("model", info.identity?.model)
            writer.member("serial", info.identity?.serial)
            writer.member("firmware", info.identity?.firmware)
            writer.member("hardware", info.identity?.hardware)
            writer.member("capabilities", info.capabilities) { $0.write($1) }
            writer.member("max_history_days", info.capabilities?.maximumHistoryDays)
        }
    }

    /// The state of the connection with a device.
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

    /// The newest sample of a metric, without its value if it is stale at `now`.
    ///
    /// The broker drops the message with the value when the value becomes stale; the one without a value stays.
    /// - Parameter person: the person whom the sample is about.
    package func latest(
        _ state: LatestState, of device: DeviceID, person: String?, now: Timestamp
    ) -> OutgoingMessage {
        let stored = state.stored
        let isStale = state.isStale || state.freshUntil.map { $0 <= now } ?? false
        var result = message(.latest(device, stored.sample.metric), .latest) { writer in
            writer.member("person", person)
            writer.member("metric", stored.sample.metric.rawValue)
            writer.member("value", isStale ? nil : stored.sample.value)
            writer.member("fields", isStale ? nil : stored.sample) { $0.fields(of: $1) }
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

    /// The state of a device's synchronisation.
    package func sync(_ state: SyncState, of device: DeviceID) -> OutgoingMessage {
        message(.sync(device), .sync) { writer in
            writer.member("state", state.phase.rawValue)
            writer.member("job", state.job)
            writer.member("metric", state.metric?.rawValue)
            writer.member("metrics_done", state.metricsDone)
            writer.member("metrics_total", state.metricsTotal)
            writer.member("import_percent", state.importPercent)
            writer.members(of: state)
            writer.member("oldest", state.oldest)
            writer.member("newest", state.newest)
            writer.member("started_at", state.startedAt)
            writer.member("last_success_at", state.lastSuccessAt)
            writer.member("error", state.error)
        }
    }

    /// The state of a device's measurement.
    package func measure(_ state: MeasureState, of device: DeviceID) -> OutgoingMessage {
        message(.measure(device), .measure) { writer in
            writer.member("state", state.phase.rawValue)
            writer.member("metric", state.metric?.rawValue)
            writer.member("started_at", state.startedAt)
            writer.member("value", state.newest?.value)
            writer.member("fields", state.newest) { $0.fields(of: $1) }
            writer.member("refused", state.refused)
            writer.member("error", state.error)
        }
    }

    /// Whether a device is worn, and whether it is charging.
    package func wear(_ state: WearState, of device: DeviceID) -> OutgoingMessage {
        message(.wear(device), .wear) { writer in
            writer.member("worn", state.isWorn)
            writer.member("charging", state.isCharging)
            writer.member("at", state.at)
        }
    }

    /// The pairing of a device. The passkey is never part of it.
    package func pairing(_ state: PairingState, of device: DeviceID) -> OutgoingMessage {
        message(.pairing(device), .pairing) { writer in
            writer.member("state", state.phase.rawValue)
            writer.member("until", state.until)
            writer.member("message", state.message)
            writer.member("at", state.at)
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
            where metric.distinguishesExercise || Abilities.heartRateOnly.isDisjoint(with: ability) {
                key(escaping: name)
                bool(abilities.contains(ability))
            }
            endObject()
        }
        endObject()
    }

    /// Writes the result of a synchronisation: the totals, the metrics that failed, and each metric.
    mutating func members(of state: SyncState) {
        member("samples_new", state.samplesNew)
        member("samples_known", state.samplesKnown)
        member("skipped") { writer in
            for (reason, count) in state.skipped.sorted(by: { $0.key < $1.key }) {
                writer.key(escaping: reason)
                writer.int(count)
            }
        }
        member("failed", array: state.failed) { writer, failure in
            writer.beginObject()
            writer.member("metric", failure.metric.rawValue)
            writer.member("code", failure.code.rawValue)
            writer.member("message", failure.message)
            writer.endObject()
        }
        member("metrics", array: state.rows) { writer, row in
            writer.beginObject()
            writer.member("metric", row.metric.rawValue)
            writer.member("state", row.state.rawValue)
            writer.member("new", row.new)
            writer.member("known", row.known)
            writer.member("refused", row.refused.count)
            writer.member("refused_by_reason", refusals: row.refused.counts)
            writer.member("postponed", row.postponed)
            writer.member("code", row.error?.code.rawValue)
            writer.member("error", row.error?.message)
            writer.endObject()
        }
    }
}
