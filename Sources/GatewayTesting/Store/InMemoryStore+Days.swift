package import Engines
package import Vitals

extension InMemoryStore {
    /// Samples of a range, in order.
    package func samples(
        of device: DeviceID, metric: Metric, starting range: Range<Timestamp>, isUserInitiated: Bool?,
        after: SampleKey?, limit: Int
    ) async throws(StoreError) -> [StoredSample] {
        try transaction(.read) { state in
            let all = (state.devices[device]?.samples ?? [:]).values.filter { stored in
                stored.sample.metric == metric && range.contains(stored.sample.start)
                    && stored.sample.isUserInitiated == isUserInitiated ?? stored.sample.isUserInitiated
                    && after.map { SampleKey(stored.sample) > $0 } ?? true
            }
            return Array(all.sorted { SampleKey($0.sample) < SampleKey($1.sample) }.prefix(max(0, limit)))
        }
    }

    /// Keeps a day's summary; a past day that differs from what was kept becomes a fact.
    package func settle(
        _ summary: DailySummary, of device: DeviceID, isFinal: Bool, at: Timestamp
    ) async throws(StoreError) -> DayRecord {
        try transaction(.settle) { state in
            let day = MetricDay(summary.metric, summary.day)
            if isFinal { state.devices[device, default: Device()].record.unsettledDays.remove(day) }
            let old = state.devices[device]?.days[day]
            if let old, old.summary == summary, old.isFinal == isFinal { return old }
            let record = DayRecord(
                summary: summary, revision: (old?.revision ?? 0) + 1, updatedAt: at, isFinal: isFinal,
                deviceSummary: state.devices[device]?.deviceDays[day])
            state.devices[device]?.days[day] = record
            if isFinal { state.append(.day(record), to: .history, of: device) }
            return record
        }
    }

    /// Keeps a device's own summary; a past day of which it says something else now becomes a fact again.
    package func keepDeviceSummary(
        _ summary: DailySummary, of device: DeviceID, at: Timestamp
    ) async throws(StoreError) -> Bool {
        try transaction(.settle) { state in
            let day = MetricDay(summary.metric, summary.day)
            let kept = state.devices[device]?.deviceDays[day]
            var record = state.devices[device]?.days[day]
            let isUnsettled = record?.isFinal != true
            guard kept?.hasSameContent(as: summary) != true else { return isUnsettled }
            state.devices[device, default: Device()].deviceDays[day] = summary
            record?.deviceSummary = summary
            if isUnsettled {
                state.devices[device]?.record.unsettledDays.insert(day)
            } else if var final = record {
                final.revision += 1
                final.updatedAt = at
                record = final
                state.append(.day(final), to: .history, of: device)
            }
            state.devices[device]?.days[day] = record
            return isUnsettled
        }
    }

    /// Days of a metric, ascending.
    package func days(
        of device: DeviceID, metric: Metric, in range: ClosedRange<LocalDay>, limit: Int
    ) async throws(StoreError) -> [DayRecord] {
        try transaction(.read) { state in
            let all = (state.devices[device]?.days ?? [:])
                .filter { $0.key.metric == metric && range.contains($0.key.day) }
            return Array(all.values.sorted { $0.summary.day < $1.summary.day }.prefix(max(0, limit)))
        }
    }

    /// Makes a fact of a gap.
    package func report(_ gap: Gap, of device: DeviceID) async throws(StoreError) {
        try transaction(.facts) { state in state.append(.gap(gap), to: .history, of: device) }
    }
}
