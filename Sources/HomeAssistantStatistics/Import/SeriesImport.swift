import HomeAssistant
import Vitals

/// Imports what is pending of one sensor, in an open conversation.
struct SeriesImport {
    /// How an import ended.
    struct Outcome: Hashable {
        /// Whether Home Assistant was seen to have some hours now.
        var hasImported: Bool
        /// Whether Home Assistant has no own row yet that could follow the imported ones.
        var isJoining = false
    }

    let settings: StatisticsSettings
    let store: any StatisticsStore
    let conversation: Conversation
    let version: HomeAssistantVersion
    let sensor: StatisticSensor
    /// The `unique_id` of its entity.
    let unique: String
    let target: StatisticTarget
    let conversion: UnitConversion

    /// Imports the hours up to `last`.
    func run(_ entry: PendingStatistics, through last: Hour) async throws -> Outcome {
        try await check()
        return sensor.kind == .counter
            ? try await count(entry, through: last) : try await measure(entry, through: last)
    }

    /// Sees that the entity is still the one of the sensor. Statistics under an old name would get lost.
    func check() async throws {
        guard try await conversation.uniqueID(of: target.entity) == unique else {
            throw HomeAssistantError.renamed(target.entity)
        }
    }

    /// Gives hours up, but for the rest. Returns `false` if samples came meanwhile.
    func setPending(_ hours: ClosedRange<Hour>?, isJoining: Bool = false, of entry: PendingStatistics) async throws
        -> Bool
    {
        try await check()
        return try await store.setPending(hours, isJoining: isJoining, of: entry)
    }

    /// Stores hours in place of those that Home Assistant has, as far as they differ, and sees them stored. Returns whether
    /// there were any.
    func storeAll(_ statistics: [HourlyStatistic], in hours: ClosedRange<Hour>) async throws -> Bool {
        let range = hours.lowerBound.start..<hours.upperBound.end
        let rows = try await conversation.rows(of: target, in: range)
        let shown = Dictionary(rows.map { (Hour(of: $0.start), $0) }) { $1 }
        var wanted = statistics
        if sensor.kind == .dailySum {
            // Before its first night, or after the last was withdrawn, a day shows zero.
            let known = Set(statistics.map(\.hour))
            wanted += shown.filter { hours.contains($0.key) && !known.contains($0.key) && $0.value.highest != 0 }
                .map { HourlyStatistic(hour: $0.key, content: .measured(mean: 0, lowest: 0, highest: 0)) }
            wanted.sort { $0.hour < $1.hour }
        }
        let different = wanted.filter { statistic in !(shown[statistic.hour].map(statistic.isShown) ?? false) }
        guard let last = different.last else { return !wanted.isEmpty }
        try await conversation.store(different, to: target, version)
        try await waitFor("statistics of \(target.entity)") {
            let rows = try await conversation.rows(of: target, in: last.hour.start..<last.hour.end)
            return rows.first.map(last.isShown) ?? false
        }
        try await settings.clock.sleep(for: StatisticsSettings.pause)
        return true
    }

    /// Waits until Home Assistant shows the effect of a message.
    func waitFor(_ what: String, _ isDone: () async throws -> Bool) async throws {
        let end = settings.clock.uptime + StatisticsSettings.effectTime
        while try await !isDone() {
            guard settings.clock.uptime < end else {
                // Under its old name nothing shows any more.
                try await check()
                throw HomeAssistantError.late(what)
            }
            try await settings.clock.sleep(for: StatisticsSettings.pollInterval)
        }
    }

    /// Reads the sensor's observations that begin within a time, from samples that begin then.
    func read(
        _ device: DeviceID, from start: Timestamp, to end: Timestamp, _ body: (Observation) -> Void
    ) async throws {
        try await sensor.read(store, device, from: start, to: end) {
            body($0)
            return true
        }
    }
}

extension StatisticSensor {
    /// Reads observations from samples that begin within a time, until `body` returns `false`.
    func read(
        _ store: any StatisticsStore, _ device: DeviceID, from start: Timestamp, to end: Timestamp,
        _ body: (Observation) -> Bool
    ) async throws {
        guard start < end else { return }
        var after: SampleKey?
        while true {
            let samples = try await store.history(
                of: device, metric: metric, starting: start..<end, after: after, limit: StatisticsSettings.page)
            for stored in samples {
                guard let observation = observation(of: stored.sample), observation.moment < end else { continue }
                guard body(observation) else { return }
            }
            guard samples.count == StatisticsSettings.page, let last = samples.last else { return }
            after = SampleKey(last.sample)
        }
    }
}

extension HourlyStatistic {
    /// In another unit. Sums are in it from the beginning.
    func converted(_ conversion: UnitConversion) -> HourlyStatistic {
        guard case .measured(let mean, let lowest, let highest) = content else { return self }
        return HourlyStatistic(
            hour: hour,
            content: .measured(mean: conversion(mean), lowest: conversion(lowest), highest: conversion(highest)))
    }

    /// Whether a row has these numbers, but for rounding.
    func isShown(by row: StatisticRow) -> Bool {
        func shows(_ shown: Double?, _ number: Double) -> Bool { shown.map { $0.isClose(to: number) } ?? false }
        return switch content {
        case .measured(let mean, let lowest, let highest):
            shows(row.mean, mean) && shows(row.lowest, lowest) && shows(row.highest, highest)
        case .counted(let state, let sum, let since):
            shows(row.sum, sum) && shows(row.state, state) && row.lastReset == since
        }
    }
}

extension Double {
    /// Whether both are equal but for rounding on the way: less than a hundredth of a step in ten million.
    func isClose(to other: Double) -> Bool { abs(self - other) <= 1e-9 * max(1, abs(self), abs(other)) }
}
