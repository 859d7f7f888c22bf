import Vitals

/// Makes the plots of a device.
struct ValuesBuilder: Sendable {
    /// The most rows of a table below a plot: the newest ones.
    static let maximumListed = 200

    let device: ShownDevice
    let sources: PageSources
    let clock: PageClock
    let range: ShownRange

    /// The plots of all metrics, or of one with its table.
    func section(of metric: Metric?) async throws(StoreError) -> ValuesSection {
        let path = "\(device.path)/values"
        var plots: [Plot] = []
        for shown in metric.map({ [$0] }) ?? device.metrics {
            plots += try await self.plots(of: shown, isAlone: metric != nil)
        }
        return ValuesSection(
            range: range.bar(path, keeping: metric.map { "metric=\($0.rawValue)" }), plots: plots,
            all: metric.map { _ in "\(path)?range=\(range.period.rawValue)&end=\(range.days.upperBound)" })
    }

    /// The plots of a metric, of which there are several if its values cannot be compared; none without values.
    func plots(of metric: Metric, isAlone: Bool = false) async throws(StoreError) -> [Plot] {
        switch metric.shape {
        case .value: try await lines(metric, isAlone)
        case .pressure: try await ranges(metric, isAlone)
        case .count, .sleep: try await bars(metric, isAlone)
        case .session: []
        }
    }

    // MARK: - By shape

    /// The limits that apply to a metric.
    private func configuration(_ metric: Metric) -> MonitorConfiguration? {
        let desired = device.twin?.desired
        return desired?[metric] ?? metric.restOf.flatMap { desired?[$0] }
    }

    /// Whether samples are read, and not days.
    private var isFine: Bool { range.period == .day || range.period == .week }

    private func lines(_ metric: Metric, _ isAlone: Bool) async throws(StoreError) -> [Plot] {
        guard isFine || !metric.hasHistory else { return try await dailyLines(metric, isAlone) }
        let (samples, isCut) = try await sources.samples(of: device.id, metric, starting: range.moments)
        let decisive = metric.qualifiers.filter(\.isDecisive).map(\.qualifier)
        let groups = Dictionary(grouping: samples) { stored in
            decisive.compactMap { stored.sample.qualifiers[$0].map(Wording.text(ofQualifier:)) }.joined(separator: ", ")
        }
        return groups.sorted { $0.key < $1.key }.enumerated().map { index, group in
            var values = PlotBuckets(range.axis)
            for sample in group.value { values.add(sample) }
            let name = Wording.name(of: metric) + (group.key.isEmpty ? "" : " (\(group.key))")
            let plot = LinePlot(
                metric, name: name, values: values, configuration: configuration(metric), now: clock.now)
            return self.plot(
                metric, name, index, plot.svg, isCut: isCut, isAlone ? table(of: group.value, metric) : nil)
        }
    }

    /// Lines of days: means with their extremes.
    private func dailyLines(_ metric: Metric, _ isAlone: Bool) async throws(StoreError) -> [Plot] {
        let days = try await sources.days(of: device.id, metric, range.days)
        var values = PlotBuckets(range.axis)
        for day in days { values.add(day, in: clock.calendar, now: clock.now) }
        guard values.count > 0 else { return [] }
        let name = Wording.name(of: metric)
        let plot = LinePlot(metric, name: name, values: values, configuration: configuration(metric), now: clock.now)
        return [self.plot(metric, name, 0, plot.svg, isAlone ? table(of: days, metric) : nil)]
    }

    private func ranges(_ metric: Metric, _ isAlone: Bool) async throws(StoreError) -> [Plot] {
        let (samples, isCut) = try await sources.samples(of: device.id, metric, starting: range.moments)
        guard !samples.isEmpty else { return [] }
        let name = Wording.name(of: metric)
        var plot = RangePlot(
            metric, name: name, axis: range.axis, configuration: configuration(metric), now: clock.now)
        for sample in samples { plot.add(sample) }
        return [
            self.plot(metric, name, 0, plot.svg, isCut: isCut, isAlone ? table(of: samples, metric) : nil)
        ]
    }

    private func bars(_ metric: Metric, _ isAlone: Bool) async throws(StoreError) -> [Plot] {
        let name = Wording.name(of: metric)
        var plot = BarPlot(metric, name: name, axis: range.axis, now: clock.now)
        var listing: Table?
        var isCut = false
        if range.period == .day, metric.shape == .count {
            let found = try await sources.samples(of: device.id, metric, starting: range.moments)
            for sample in found.samples { plot.add(sample) }
            isCut = found.isCut
            listing = table(of: found.samples, metric)
        } else if range.period != .day {
            let days = try await sources.days(of: device.id, metric, range.days)
            for day in days { plot.add(day, in: clock.calendar) }
            listing = table(of: days, metric)
        }
        guard plot.totals.contains(where: { $0 != nil }) else { return [] }
        return [self.plot(metric, name, 0, plot.svg, isCut: isCut, isAlone ? listing : nil)]
    }

    private func plot(
        _ metric: Metric, _ name: String, _ index: Int, _ svg: (PlotLayout) -> String, isCut: Bool = false,
        _ listing: Table?
    ) -> Plot {
        let unit = metric.shape == .sleep ? "h" : Wording.unit(of: metric)
        return Plot(
            anchor: "plot-\(metric.rawValue)\(index == 0 ? "" : "-\(index)")", label: name, unit: unit,
            link:
                "\(device.path)/values?range=\(range.period.rawValue)&end=\(range.days.upperBound)&metric=\(metric.rawValue)",
            narrowSVG: svg(.narrow), wideSVG: svg(.wide),
            note: isCut ? "There are more values than a plot has: choose a shorter time." : nil, listing: listing)
    }

    // MARK: - Tables

    private func table(of samples: [StoredSample], _ metric: Metric) -> Table {
        let rows = samples.suffix(Self.maximumListed).reversed().map { stored in
            TableRow(
                head: clock.moment(stored.sample.end).text, target: nil,
                cells: [Wording.text(of: stored.sample), stored.revision > 1 ? "corrected" : ""])
        }
        return Table(
            caption: "\(Wording.name(of: metric)), the newest \(NumberText.count(rows.count, "value"))",
            columns: ["Time", unit(metric), ""],
            rows: Array(rows))
    }

    private func table(of days: [DailySummary], _ metric: Metric) -> Table {
        Table(
            caption: "\(Wording.name(of: metric)) by day", columns: ["Day", unit(metric)],
            rows: days.reversed().map {
                TableRow(head: clock.text(of: $0.day), target: nil, cells: [DayText.text(of: $0)])
            })
    }

    private func unit(_ metric: Metric) -> String {
        Wording.unit(of: metric).map { "Value, \($0)" } ?? "Value"
    }
}

/// Days in words, and as a table.
enum DayText {
    /// `62.0 (48–121)`, `8,214`, `7 h 42 min`; `–` for a day without a value or a sleep, which may still come.
    static func text(of day: DailySummary) -> String {
        let decimals = day.metric.decimals
        if day.count == 0, day.metric.shape != .count { return "–" }
        switch day.details {
        case .values(let extremes):
            guard let average = day.average else { return NumberText.count(day.count, "value") }
            // The same of all days: a mean of whole values is seldom whole.
            let mean = NumberText.of(average, decimals: max(decimals, 1))
            guard let lowest = extremes.minimum?.sample.value, let highest = extremes.maximum?.sample.value,
                lowest < highest
            else { return mean }
            return
                "\(mean) (\(NumberText.of(lowest, decimals: decimals))–\(NumberText.of(highest, decimals: decimals)))"
        case .bloodPressure(let extremes):
            guard let average = extremes.average else { return NumberText.count(day.count, "value") }
            return "\(NumberText.of(average.systolic))/\(NumberText.of(average.diastolic))"
        case .count(let total, _, _): return NumberText.of(total, decimals: decimals)
        case .sleep(let totals): return TimeText.span(minutes: totals.asleep)
        case .sport(let totals): return totals.sessions == 0 ? "–" : TimeText.span(minutes: totals.minutes)
        }
    }
}
