import HomeAssistant
import StoreAPI
import Vitals

/// Imports what is due of one series, in an open conversation.
struct SeriesImport {
    let settings: StatisticsSettings
    let store: any StatisticsStore
    let conversation: Conversation
    let version: HomeAssistantVersion
    /// The series' sensors that Home Assistant has.
    let sensors: [(sensor: StatisticSensor, target: StatisticTarget, conversion: UnitConversion)]

    /// Imports the hours up to `last`. Returns whether all of them are stored; `false` if samples came meanwhile.
    func run(_ entry: DueStatistics, through last: Hour) async throws -> Bool {
        guard let kind = sensors.first?.sensor.kind else { return false }
        guard let entry = try await withoutLost(entry) else { return true }
        return kind == .counter ? try await count(entry, through: last) : try await measure(entry, through: last)
    }

    /// The entry without the hours whose samples may be deleted; `nil` if none is left.
    private func withoutLost(_ entry: DueStatistics) async throws -> DueStatistics? {
        guard let retention = settings.retention else { return entry }
        // The day of the limit may have lost a part already, and a night before it.
        let oldest = Hour(of: settings.clock.now - retention + .days(2))
        guard entry.hours.lowerBound < oldest else { return entry }
        let hours = entry.hours.upperBound < oldest ? nil : oldest...entry.hours.upperBound
        guard try await store.setDue(hours, of: entry), let hours else { return nil }
        var entry = entry
        entry.hours = hours
        return entry
    }

    // MARK: Measured

    private func measure(_ entry: DueStatistics, through last: Hour) async throws -> Bool {
        let end = min(entry.hours.upperBound, last)
        var first = entry.hours.lowerBound
        while first <= end {
            let through = min(first.advanced(by: StatisticsSettings.batch - 1), end)
            for (sensor, target, conversion) in sensors {
                let hours = first...through
                let statistics = try await statistics(of: sensor, entry.device, in: hours)
                try await storeAll(statistics.map { $0.converted(conversion) }, to: target)
            }
            first = through.advanced(by: 1)
            let rest = first <= entry.hours.upperBound ? first...entry.hours.upperBound : nil
            guard try await store.setDue(rest, of: entry) else { return false }
        }
        return true
    }

    private func statistics(
        of sensor: StatisticSensor, _ device: DeviceID, in hours: ClosedRange<Hour>
    ) async throws -> [HourlyStatistic] {
        if sensor.kind == .dailySum {
            let calendar = settings.calendar
            let start = CountedHours.beginning(of: hours.lowerBound, calendar: calendar)
            var observations: [Observation] = []
            // A night begins before its day.
            try await read(sensor, device, from: start - SampleLimits.duration, to: hours.upperBound.end) {
                if $0.moment >= start { observations.append($0) }
            }
            return sensor.measured(observations, in: hours, calendar: calendar)
        }
        var measured = MeasuredHours()
        try await read(sensor, device, from: hours.lowerBound.start, to: hours.upperBound.end) { measured.add($0) }
        return measured.statistics
    }

    // MARK: Counted

    /// Counts are imported with every hour from the first due one on, since the sums of all later ones follow.
    private func count(_ entry: DueStatistics, through last: Hour) async throws -> Bool {
        var entry = entry
        var joints: [Joint] = []
        for (_, target, _) in sensors { joints.append(try await joint(of: target, after: last)) }
        // Home Assistant continues from its newest row. If that is older than what is due, the hours since it follow, too.
        if let oldest = joints.compactMap({ $0.oldestHour }).min(), oldest < entry.hours.lowerBound {
            let hours = oldest...entry.hours.upperBound
            guard try await store.setDue(hours, of: entry) else { return false }
            entry.hours = hours
        }
        let first = entry.hours.lowerBound
        var counted: [CountedHours] = []
        for ((sensor, target, conversion), joint) in zip(sensors, joints) {
            var hours = CountedHours(
                from: first, base: try await base(of: target, before: first), calendar: settings.calendar)
            let start = CountedHours.beginning(of: first, calendar: settings.calendar)
            // What is newer counts for the beginning of a day that has begun meanwhile.
            try await read(sensor, entry.device, from: min(start, joint.oldestDay ?? start), to: settings.clock.now) {
                hours.add(Observation(at: $0.moment, conversion.difference($0.number)))
            }
            if !hours.isEmpty { try await joint.fit(hours, target, after: last, conversation, settings) }
            counted.append(hours)
        }
        guard try await store(counted, entry, through: last) else { return false }
        // Without a row of its own Home Assistant will begin at zero: only then its rows can be made to fit.
        let isJoined = zip(joints, counted).allSatisfy { !$0.rows.isEmpty || $1.isEmpty }
        let next = max(first, last.advanced(by: 1))
        let rest = next <= entry.hours.upperBound ? next...entry.hours.upperBound : isJoined ? nil : next...next
        return try await store.setDue(rest, of: entry)
    }

    private func store(_ counted: [CountedHours], _ entry: DueStatistics, through last: Hour) async throws -> Bool {
        let all = counted.map { $0.statistics(through: last) }
        var begin = 0
        while begin < (all.first?.count ?? 0) {
            let end = min(begin + StatisticsSettings.batch, all[0].count)
            for ((statistics, sensor), hours) in zip(zip(all, sensors), counted) where !hours.isEmpty {
                try await storeAll(Array(statistics[begin..<end]), to: sensor.target)
            }
            begin = end
            guard begin < all[0].count else { break }
            let first = entry.hours.lowerBound.advanced(by: begin)
            guard try await store.setDue(first...max(first, entry.hours.upperBound), of: entry) else { return false }
        }
        return true
    }

    /// The sum of the newest row before an hour; zero if there is none.
    private func base(of target: StatisticTarget, before first: Hour) async throws -> Double {
        var end = first.start
        for days in [7, 70, 700, 7_000] {
            let start = first.start - .days(days)
            let rows = try await conversation.rows(of: target, in: start..<end)
            if let sum = rows.last(where: { $0.sum != nil })?.sum { return sum }
            end = start
        }
        return 0
    }

    private func joint(of target: StatisticTarget, after last: Hour) async throws -> Joint {
        let now = settings.clock.now
        let today = settings.calendar.bounds(of: settings.calendar.day(of: now)).lowerBound
        // Home Assistant keeps these rows for ten days unless somebody wants more.
        for hours in [3, 26, 11 * 24] {
            let start = min(now - .hours(hours), last.end)
            let rows = try await conversation.rows(of: target, in: start..<now, fiveMinutes: true)
            if let joint = Joint(rows, after: last, today: today) { return joint }
        }
        return Joint(today: today)
    }

    // MARK: Both

    /// Stores hours in batches, and sees each of them stored.
    private func storeAll(_ statistics: [HourlyStatistic], to target: StatisticTarget) async throws {
        var rest = statistics[...]
        while let last = rest.prefix(StatisticsSettings.batch).last {
            try await conversation.store(Array(rest.prefix(StatisticsSettings.batch)), to: target, version)
            rest = rest.dropFirst(StatisticsSettings.batch)
            try await settings.waitFor("statistics of \(target.entity)") {
                let rows = try await conversation.rows(of: target, in: last.hour.start..<last.hour.end)
                return rows.first.map { last.isShown(by: $0) } ?? false
            }
            try await settings.clock.sleep(for: StatisticsSettings.pause)
        }
    }

    private func read(
        _ sensor: StatisticSensor, _ device: DeviceID, from start: Timestamp, to end: Timestamp,
        _ body: (Observation) -> Void
    ) async throws {
        guard start < end else { return }
        var after: SampleKey?
        while true {
            let samples = try await store.history(
                of: device, metric: sensor.metric, starting: start..<end, after: after, limit: StatisticsSettings.page)
            for stored in samples {
                guard let observation = sensor.observation(of: stored.sample), observation.moment < end else {
                    continue
                }
                body(observation)
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
        func isSame(_ shown: Double?, _ number: Double) -> Bool { shown.map { $0.isClose(to: number) } ?? false }
        return switch content {
        case .measured(let mean, let lowest, let highest):
            isSame(row.mean, mean) && isSame(row.lowest, lowest) && isSame(row.highest, highest)
        case .counted(let state, let sum, _): isSame(row.sum, sum) && isSame(row.state, state)
        }
    }
}

extension Double {
    /// Whether both are equal but for rounding on the way: less than a hundredth of a step in ten million.
    func isClose(to other: Double) -> Bool { abs(self - other) <= 1e-9 * max(1, abs(self), abs(other)) }
}

extension StatisticsSettings {
    /// Waits until Home Assistant shows the effect of a message.
    func waitFor(_ what: String, _ isDone: () async throws -> Bool) async throws {
        let end = clock.uptime + Self.effectTime
        while try await !isDone() {
            guard clock.uptime < end else { throw HomeAssistantError.late(what) }
            try await clock.sleep(for: Self.look)
        }
    }
}
