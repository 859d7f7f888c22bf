import HomeAssistant
import Vitals

extension SeriesImport {
    /// Imports the pending hours of a measurement, each for itself.
    func measure(_ entry: PendingStatistics, through last: Hour) async throws -> Outcome {
        var outcome = Outcome(hasImported: false)
        let end = min(entry.hours.upperBound, last)
        var first = entry.hours.lowerBound
        while first <= end {
            let through = min(first.advanced(by: StatisticsSettings.batch - 1), end)
            let statistics = try await statistics(of: entry.device, in: first...through)
            if try await storeAll(statistics.map { $0.converted(conversion) }, in: first...through) {
                outcome.hasImported = true
            }
            first = through.advanced(by: 1)
            let rest = first <= entry.hours.upperBound ? first...entry.hours.upperBound : nil
            guard try await setPending(rest, of: entry) else { break }
        }
        return outcome
    }

    private func statistics(of device: DeviceID, in hours: ClosedRange<Hour>) async throws -> [HourlyStatistic] {
        if sensor.kind == .dailySum {
            let start = CountedHours.beginning(of: hours.lowerBound, calendar: settings.calendar)
            var observations: [Observation] = []
            // A night begins before its day.
            try await read(device, from: start - SampleLimits.duration, to: hours.upperBound.end) {
                if $0.moment >= start { observations.append($0) }
            }
            return sensor.measured(observations, in: hours, calendar: settings.calendar)
        }
        var measured = MeasuredHours()
        try await read(device, from: hours.lowerBound.start, to: hours.upperBound.end) { measured.add($0) }
        return measured.statistics
    }

    /// Imports a count: every hour from the first pending one on, since the sums of all later ones follow, up to the
    /// last one that Home Assistant does not show by itself.
    func count(_ entry: PendingStatistics, through last: Hour) async throws -> Outcome {
        // The row from which all sums are computed must come before those that are shifted.
        let first = min(entry.hours.lowerBound, last.advanced(by: 1))
        let continuation = SumContinuation(
            try await conversation.rows(of: target, in: last.end..<settings.clock.now, fiveMinutes: true),
            from: last.end)
        let newest = try await newest(since: first.start, before: settings.clock.now)
        // While the device is offline there is nothing to show after the hours that were touched.
        let shown = newest.map { min(last, Hour(of: $0.start)) } ?? first.advanced(by: -1)
        let touched = entry.isJoining ? first.advanced(by: -1) : min(entry.hours.upperBound, last)
        let end = continuation.start != nil ? last : max(shown, touched)
        guard continuation.start != nil || end >= first else { return Outcome(hasImported: false, isJoining: true) }

        let anchor = try await anchor(before: first)
        var counted = CountedHours(from: anchor, calendar: settings.calendar)
        let days = [
            anchor.moment, CountedHours.beginning(of: anchor.row?.hour ?? first, calendar: settings.calendar),
            CountedHours.beginning(of: first, calendar: settings.calendar),
        ]
        let day = ([continuation.oldestDay].compactMap { $0 } + days).min() ?? anchor.moment
        // What is newer counts for the beginning of a day that has begun meanwhile.
        try await read(entry.device, from: max(day, oldest ?? day), to: settings.clock.now) {
            counted.add(Observation(at: $0.moment, conversion.difference($0.number)))
        }
        let after = end.advanced(by: 1)
        let rest = after <= entry.hours.upperBound && !entry.isJoining ? after...entry.hours.upperBound : nil
        // The device does not count this: there is nothing to import, and nothing to wait for.
        if counted.isEmpty, continuation.isEmpty, newest.map({ $0.sum == 0 }) ?? true {
            _ = try await setPending(rest, of: entry)
            return Outcome(hasImported: false)
        }
        return try await write(counted, from: first, through: end, continuation, rest, of: entry)
    }

    private func write(
        _ counted: CountedHours, from first: Hour, through end: Hour, _ continuation: SumContinuation,
        _ rest: ClosedRange<Hour>?, of entry: PendingStatistics
    ) async throws -> Outcome {
        var outcome = Outcome(hasImported: try await continuation.fit(counted, self))
        // A total is shown with the metric's decimals, the metres and kilocalories of steps without.
        let decimals = sensor.part == .value ? sensor.metric.decimals : 0
        let precision = conversion.difference((0..<decimals).reduce(1) { step, _ in step / 10 }) * 0.999
        var begin = counted.beginning(before: first, precision: precision)
        if let oldest = settings.oldestHour { begin = min(max(begin, oldest), first) }
        while begin <= end {
            let through = min(begin.advanced(by: StatisticsSettings.batch - 1), end)
            if try await storeAll(counted.statistics(in: begin...through), in: begin...through) {
                outcome.hasImported = true
            }
            begin = through.advanced(by: 1)
            guard begin <= end, begin > entry.hours.lowerBound else { continue }
            guard try await setPending(begin...max(begin, entry.hours.upperBound), of: entry) else { return outcome }
        }
        let after = end.advanced(by: 1)
        if rest == nil, continuation.start == nil {
            // Home Assistant will go on from a row that is older than these hours, or from none. Until it has, it is not known
            // how; so nothing is over.
            outcome.isJoining = true
            _ = try await setPending(after...after, isJoining: true, of: entry)
        } else if rest == nil, let start = continuation.start, start > after.start + .minutes(5) {
            // It went on later: the hours between are imported when they are old enough.
            _ = try await setPending(after...Hour(of: start), of: entry)
        } else {
            _ = try await setPending(rest, of: entry)
        }
        return outcome
    }

    /// The moment before which samples may be deleted; `nil` if none are.
    private var oldest: Timestamp? { settings.oldestHour?.start }

    /// Where the sums of the hours from `first` on come from.
    private func anchor(before first: Hour) async throws -> SumAnchor {
        var end = first.start
        for days in [7, 70, 700, 7_000] {
            let start = first.start - .days(days)
            let rows = try await conversation.rows(of: target, in: start..<end)
            for row in rows.reversed() {
                if let anchor = SumAnchor(row, samplesSince: oldest) { return anchor }
            }
            end = start
        }
        return SumAnchor(at: first.start)
    }

    /// The newest hourly row with a sum, own or imported.
    private func newest(since start: Timestamp, before now: Timestamp) async throws -> StatisticRow? {
        var end = now
        for days in [3, 30, 300, 7_000] {
            let begin = max(start, now - .days(days))
            let rows = try await conversation.rows(of: target, in: begin..<end)
            if let row = rows.last(where: { $0.sum != nil }) { return row }
            if begin == start { return nil }
            end = begin
        }
        return nil
    }
}
