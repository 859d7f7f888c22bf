package import Vitals

// How what the gateway has becomes a plot. The other files of this folder draw, and know nothing of the gateway.

extension PlotCalendar {
    /// The offsets and months of a calendar from one moment to another, and of the days around them.
    package init(_ calendar: LocalCalendar, from: Timestamp, to: Timestamp) {
        var offsets: [Offset] = []
        let end = min(to, .latest) + .days(1)
        var moment = max(from, .earliest) - .days(1)
        while moment < end {
            let period = calendar.offset(at: moment)
            if offsets.last?.seconds != period.seconds {
                offsets.append(
                    Offset(from: offsets.isEmpty ? .min : period.range.lowerBound.milliseconds, seconds: period.seconds)
                )
            }
            moment = period.range.upperBound
        }
        var months: [Month] = []
        let last = calendar.day(of: end)
        var (year, month) = calendar.day(of: max(from, .earliest) - .days(1)).yearAndMonth
        while let first = LocalDay(year: year, month: month, day: 1), first <= last {
            months.append(Month(firstDay: first.number, year: year, month: month))
            (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
        }
        self.init(offsets: offsets, months: months)
    }
}

extension LocalDay {
    /// Of a date with a text, which has both in it.
    fileprivate var yearAndMonth: (year: Int, month: Int) {
        let parts = description.split(separator: "-").compactMap { Int($0) }
        return parts.count == 3 ? (parts[0], parts[1]) : (0, 1)
    }
}

extension TimeAxis {
    /// The day, the week from Monday, the month or the year with a date.
    package init(_ period: PlotPeriod, containing day: LocalDay, in calendar: LocalCalendar) {
        let day = min(max(day, .earliest), .latest)
        let (year, month) = day.yearAndMonth
        let days: (first: LocalDay?, next: LocalDay?)
        switch period {
        case .day: days = (day, day.advanced(by: 1))
        case .week:
            // 1970-01-01 was a Thursday.
            let monday = day.advanced(by: -(((day.number + 3) % 7 + 7) % 7))
            days = (monday, monday.advanced(by: 7))
        case .month:
            days = (
                LocalDay(year: year, month: month, day: 1),
                month == 12
                    ? LocalDay(year: year + 1, month: 1, day: 1) : LocalDay(year: year, month: month + 1, day: 1)
            )
        case .year: days = (LocalDay(year: year, month: 1, day: 1), LocalDay(year: year + 1, month: 1, day: 1))
        }
        self.init(
            period, from: calendar.moment(on: days.first ?? day, minute: 0),
            to: calendar.moment(on: days.next ?? .latest, minute: 0), in: calendar)
    }

    /// From one moment to another, at most as long as the period may be: the last hours or days, or a night.
    package init(_ period: PlotPeriod, from: Timestamp, to: Timestamp, in calendar: LocalCalendar) {
        let end = min(to, from + .milliseconds(period.maximumDuration))
        self.init(
            period, from: from.milliseconds, to: end.milliseconds,
            calendar: PlotCalendar(calendar, from: from, to: max(from, end)))
    }
}

extension PlotBuckets {
    /// Adds a sample with one value, when its measurement ended; another one, and one that was withdrawn, is left out. Values with
    /// different decisive words, such as the statistic of a heart rate variability, belong into plots of their own.
    package mutating func add(_ stored: StoredSample) {
        guard !stored.isWithdrawn, case .value(let value) = stored.sample.reading else { return }
        let kind = stored.sample.kind
        add(
            value, at: stored.sample.end.milliseconds, isCorrected: stored.revision > 1,
            isExtreme: kind == .maximum || kind == .minimum)
    }

    /// Adds a day of a metric with one value: for a year there is no need to read its samples.
    package mutating func add(_ summary: DailySummary, in calendar: LocalCalendar, now: Timestamp) {
        guard case .values(let extremes) = summary.details, let mean = summary.average, let lowest = extremes.minimum,
            let highest = extremes.maximum, let minimum = lowest.sample.value, let maximum = highest.sample.value
        else { return }
        let bounds = calendar.bounds(of: summary.day)
        let end = min(bounds.upperBound, now + .milliseconds(1))
        add(
            mean: mean, minimum: minimum, maximum: maximum, count: summary.count,
            from: bounds.lowerBound.milliseconds, to: end.milliseconds - 1,
            isCorrected: max(lowest.revision, highest.revision) > 1)
    }
}

extension PlotLimit {
    /// The limits of a metric that raise alerts, as far as values can pass them. Those of the heart rate in exercise have no lower one:
    /// at rest it would be passed all day.
    package static func limits(of metric: Metric, _ configuration: MonitorConfiguration?) -> [PlotLimit] {
        guard let configuration, configuration.metric == metric || configuration.metric == metric.restOf else {
            return []
        }
        var limits: [PlotLimit] = []
        for subject in configuration.metric.alertSubjects {
            guard let found = configuration.limits[subject], found.isEnabled, subject != .rate,
                configuration.metric == metric || subject == .resting
            else { continue }
            func add(_ value: Double, _ side: String, isPossible: Bool) {
                guard isPossible else { return }
                let name =
                    switch subject {
                    case .value, .rate: side
                    case .resting: metric == configuration.metric ? "\(side) at rest" : side
                    case .exercise: "\(side) in exercise"
                    case .systolic, .diastolic: "\(subject.rawValue) \(side)"
                    }
                limits.append(PlotLimit(value, name: name))
            }
            add(found.upper, "high", isPossible: metric.range.map { found.upper < $0.upperBound } ?? true)
            add(
                found.lower, "low",
                isPossible: subject != .exercise && metric.range.map { found.lower > $0.lowerBound } ?? true)
        }
        return limits
    }
}

extension PlotPeriod {
    /// The longest time between two values of a metric that a line crosses: one that is never stale stays true until it is measured
    /// again.
    func bridge(of metric: Metric) -> Int64 {
        metric.defaultFreshness == nil ? longestLastingBridge : longestBridge
    }
}

extension LinePlot {
    /// A plot of a metric with one value, with the limits of its monitoring.
    package init(
        _ metric: Metric, name: String, values: PlotBuckets, configuration: MonitorConfiguration? = nil, now: Timestamp
    ) {
        self.init(
            name, unit: metric.unit, decimals: metric.decimals, values: values, bounds: metric.range,
            limits: PlotLimit.limits(of: metric, configuration), bridge: values.axis.period.bridge(of: metric),
            now: now.milliseconds)
    }
}

extension Sparkline {
    /// A sparkline of a metric with one value.
    package init(_ metric: Metric, name: String, axis: TimeAxis) {
        self.init(
            name, unit: metric.unit, decimals: metric.decimals, axis: axis, bridge: axis.period.bridge(of: metric))
    }

    /// Adds a sample with one value; another one, and one that was withdrawn, is left out.
    package mutating func add(_ stored: StoredSample) {
        guard !stored.isWithdrawn, case .value(let value) = stored.sample.reading else { return }
        add(value, at: stored.sample.end.milliseconds)
    }
}

extension BarPlot {
    /// A plot of a counter, or of sleep in hours.
    package init(_ metric: Metric, name: String, axis: TimeAxis, now: Timestamp) {
        let isSleep = metric.shape == .sleep
        self.init(
            name, unit: isSleep ? "h" : metric.unit, decimals: isSleep ? 1 : metric.decimals, axis: axis,
            now: now.milliseconds)
    }

    /// Adds a count to the bar in which it began, as it belongs to its day; another sample, and one that was withdrawn, is left out.
    package mutating func add(_ stored: StoredSample) {
        guard !stored.isWithdrawn, case .count(let increment) = stored.sample.reading else { return }
        add(increment.amount, at: stored.sample.start.milliseconds)
    }

    /// Adds a day's total of a counter, or its sleep. A day that has neither is a gap: nobody wore the device, and 0 would be a value.
    package mutating func add(_ summary: DailySummary, in calendar: LocalCalendar) {
        guard summary.count > 0 else { return }
        let start = calendar.bounds(of: summary.day).lowerBound.milliseconds
        switch summary.details {
        case .count(let total, _, _): add(total, at: start)
        case .sleep(let totals): add(Double(totals.asleep) / 60, at: start)
        case .values, .bloodPressure, .sport: break
        }
    }
}

extension RangePlot {
    /// A plot of a metric with two pressures, with the limits of its monitoring.
    package init(
        _ metric: Metric, name: String, axis: TimeAxis, configuration: MonitorConfiguration? = nil, now: Timestamp
    ) {
        self.init(
            name, unit: metric.unit, axis: axis, limits: PlotLimit.limits(of: metric, configuration),
            now: now.milliseconds)
    }

    /// Adds a blood pressure; another sample, and one that was withdrawn, is left out.
    package mutating func add(_ stored: StoredSample) {
        guard !stored.isWithdrawn, case .bloodPressure(let pressure) = stored.sample.reading else { return }
        add(
            systolic: pressure.systolic, diastolic: pressure.diastolic, at: stored.sample.end.milliseconds,
            isCorrected: stored.revision > 1)
    }
}

extension Hypnogram {
    /// The night of a sample; `nil` if it is no sleep.
    package init?(_ name: String, _ sample: Sample, in calendar: LocalCalendar) {
        guard case .sleep(let sleep) = sample.reading else { return nil }
        // The longest sleeps take a few days.
        let isLong = sample.duration.inMilliseconds > PlotPeriod.day.maximumDuration
        self.init(
            name, axis: TimeAxis(isLong ? .week : .day, from: sample.start, to: sample.end, in: calendar),
            stages: sleep.stages.map {
                Stage(NightDepth($0.depth), from: $0.start.milliseconds, to: $0.end.milliseconds)
            },
            untimed: Dictionary(uniqueKeysWithValues: sleep.untimed.map { (NightDepth($0.key), $0.value) }))
    }
}

extension NightDepth {
    init(_ depth: Sleep.Stage.Depth) {
        switch depth {
        case .deep: self = .deep
        case .light: self = .light
        case .rem: self = .rem
        case .awake: self = .awake
        case .asleep: self = .asleep
        case .inBed: self = .inBed
        }
    }
}

extension ZonesBar {
    /// The zones of a workout. `maximum` is the highest heart rate in exercise, in beats per minute, by which they were counted.
    package init(_ title: String, _ zones: HeartRateZones, of workout: Sample, maximum: Int?) {
        self.init(
            title, milliseconds: zones.milliseconds, duration: workout.duration.inMilliseconds,
            maximum: maximum.map(Double.init))
    }
}
