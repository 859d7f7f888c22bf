import Vitals

/// The sections of a device. The raw value is the last part of the address.
enum DeviceSection: String, CaseIterable, Sendable, Hashable {
    case values, nights, workouts, days, alerts, settings, losses

    var name: String {
        switch self {
        case .values: "Values"
        case .nights: "Nights"
        case .workouts: "Workouts"
        case .days: "Days"
        case .alerts: "Alerts"
        case .settings: "Settings"
        case .losses: "Refused or lost"
        }
    }
}

/// Makes the page of a device.
struct DeviceBuilder: Sendable {
    /// The most edges of alerts of a page.
    static let maximumAlerts = 200
    /// How many days away the night before or after a night may be: beyond that, nights are looked for in their list.
    static let nightReach = 14

    let device: ShownDevice
    let sources: PageSources
    let clock: PageClock
    let query: FormFields

    /// The most samples whose person can be mended here: any other one by a command.
    static let maximumOwned = 10
    /// How old they may be.
    static let ownedReach: Duration = .days(30)

    /// The newest samples with their persons, the last one first.
    private func owners() async throws(StoreError) -> OwnersSection? {
        var found: [StoredSample] = []
        for metric in device.metrics where !metric.isInterval && metric.hasHistory {
            found += try await sources.samples(
                of: device.id, metric, starting: clock.now - Self.ownedReach..<clock.now
            ).samples.suffix(Self.maximumOwned)
        }
        // What was measured at once has one person.
        let first = Dictionary(grouping: found, by: \.sample.start).compactMapValues { samples in
            samples.min { $0.sample.isAsked(before: $1.sample) }
        }
        let newest = first.values.sorted { $0.sample.start > $1.sample.start }.prefix(Self.maximumOwned)
        guard !newest.isEmpty else { return nil }
        return OwnersSection(
            list: newest.map { stored in
                let sample = stored.sample
                let parts = [
                    Wording.name(of: sample.metric), Wording.text(of: sample), Wording.unit(of: sample.metric),
                ]
                let person = device.person(user: sample.user)
                return OwnersSection.Owned(
                    sample: stored.id.description, device: device.id.text,
                    what: parts.compactMap(\.self).joined(separator: " "), measured: clock.moment(sample.end),
                    persons: device.persons.map { Choice(value: $0, name: $0, isChosen: $0 == person) })
            })
    }

    /// What stands above every section.
    func head(_ current: DeviceSection?) -> DeviceHead {
        DeviceHead(
            id: device.id.text, name: device.name, facts: device.facts(clock),
            tabs: DeviceTabs(
                key: "tabs.\(device.id)",
                sections: DeviceSection.allCases.map { section in
                    Tab(
                        name: section.name, link: "\(device.path)/\(section.rawValue)", isCurrent: section == current,
                        badge: badge(section))
                }),
            state: device.row(clock),
            warnings: AlertList(key: "alerts.\(device.id)", alerts: device.alerts(clock)),
            sync: device.syncPanel(clock), measure: device.measurePanel(clock), pairing: device.pairingPanel(clock),
            whose: device.whosePanel(clock))
    }

    private func badge(_ section: DeviceSection) -> Mark? {
        switch section {
        case .settings:
            let count = device.twin.map { $0.pending.count + $0.drift.count } ?? 0
            return count == 0 ? nil : Mark("\(count)", .warn)
        case .alerts:
            let count = device.levels.count(where: \.isActive)
            return count == 0 ? nil : Mark("\(count)", .bad)
        case .losses:
            let refused = (device.sync?.rows ?? []).reduce(0) { $0 + $1.refused.count }
            return refused == 0 ? nil : Mark(NumberText.of(Double(refused)), .warn)
        default: return nil
        }
    }

    /// The page with a section.
    /// - Parameter form: the form of the settings, if it was refused.
    func page(
        _ section: DeviceSection, _ frame: Frame, form: SettingsForm? = nil
    ) async throws(StoreError) -> DevicePage {
        var page = DevicePage(frame: frame, device: head(section))
        switch section {
        case .values:
            let range = ShownRange(query, default: .day, clock)
            page.values = try await ValuesBuilder(device: device, sources: sources, clock: clock, range: range)
                .section(of: query["metric"].flatMap { Metric(rawValue: $0) })
            if device.info?.asksWhose == true { page.owners = try await owners() }
        case .nights: page.nights = try await nights()
        case .workouts: page.workouts = try await workouts()
        case .days: page.days = try await days()
        case .alerts: page.history = try await history()
        case .settings: page.settings = form ?? SettingsBuilder(device: device).form()
        case .losses:
            page.losses = LossesBuilder(device: device, clock: clock).section(
                try await sources.reader.gaps(of: device.id, limit: LossesBuilder.maximumGaps))
        }
        return page
    }

    private func range(_ period: PlotPeriod) -> ShownRange { ShownRange(query, default: period, clock) }

    /// The sleeps that ended within days, and may have begun before.
    private func sleeps(_ range: ShownRange) async throws(StoreError) -> [StoredSample] {
        let moments = range.moments
        return try await sources.samples(
            of: device.id, .sleep, starting: moments.lowerBound - .days(1)..<moments.upperBound
        ).samples
    }

    private func nights() async throws(StoreError) -> NightsSection {
        let range = range(.week)
        let builder = NightBuilder(device: device, clock: clock)
        let nights = builder.main(of: try await sleeps(range), within: range.days)
        return NightsSection(
            range: range.bar("\(device.path)/nights"),
            list: nights.compactMap { builder.night($0.stored, naps: $0.naps) })
    }

    /// The page of the night that ended on a day; `nil` if there is none.
    func night(_ day: LocalDay, _ frame: Frame) async throws(StoreError) -> NightPage? {
        let around = day.advanced(by: -Self.nightReach)...day.advanced(by: Self.nightReach)
        let (sleeps, _) = try await sources.samples(
            of: device.id, .sleep,
            starting: clock.calendar.bounds(of: around.lowerBound).lowerBound
                - .days(1)..<clock.calendar.bounds(of: around.upperBound).upperBound)
        let builder = NightBuilder(device: device, clock: clock)
        // The last one first.
        let nights = builder.main(of: sleeps, within: around).map { found in
            (found: found, day: clock.day(of: found.stored.sample))
        }
        guard let found = nights.first(where: { $0.day == day })?.found,
            let night = builder.night(found.stored, naps: found.naps)
        else { return nil }
        let (before, after) = (nights.first { $0.day < day }, nights.last { $0.day > day })
        let sample = found.stored.sample
        var plots: [Plot] = []
        for metric in [Metric.heartRate, .bloodOxygen, .respiratoryRate, .heartRateVariability]
        where device.metrics.contains(metric) {
            let values = ValuesBuilder(
                device: device, sources: sources, clock: clock, range: ShownRange(night: sample, clock))
            plots += try await values.plots(of: metric)
        }
        return NightPage(
            frame: frame, deviceName: device.name, deviceLink: device.path, night: night,
            earlier: before.map { "\(device.path)/nights/\($0.day)" },
            later: after.map { "\(device.path)/nights/\($0.day)" }, plots: plots,
            table: builder.stages(sample))
    }

    private func workouts() async throws(StoreError) -> WorkoutsSection {
        let range = range(.month)
        let (samples, _) = try await sources.samples(of: device.id, .sport, starting: range.moments)
        var zones: [SampleID: HeartRateZones] = [:]
        for day in try await sources.days(of: device.id, .sport, range.days) {
            guard case .sport(let totals) = day.details else { continue }
            for workout in totals.workouts { zones[workout.id] = workout.zones }
        }
        let builder = NightBuilder(device: device, clock: clock)
        return WorkoutsSection(
            range: range.bar("\(device.path)/workouts"),
            sessions: samples.reversed().compactMap { builder.workout($0, zones: zones[$0.id]) })
    }

    private func days() async throws(StoreError) -> DaysSection {
        let range = range(.week)
        let metrics = device.metrics.filter(\.hasHistory)
        var cells: [LocalDay: [Metric: String]] = [:]
        for metric in metrics {
            for day in try await sources.days(of: device.id, metric, range.days) {
                cells[day.day, default: [:]][metric] = DayText.text(of: day)
            }
        }
        let shown = metrics.filter { metric in cells.values.contains { $0[metric] != nil } }
        let rows = cells.keys.sorted(by: >).map { day in
            TableRow(
                head: clock.text(of: day), target: "\(device.path)/values?range=day&end=\(day)",
                cells: shown.map { cells[day]?[$0] ?? "–" })
        }
        let columns = shown.map { metric in
            Wording.name(of: metric) + (Wording.unit(of: metric).map { ", \($0)" } ?? "")
        }
        return DaysSection(
            range: range.bar("\(device.path)/days"),
            table: Table(caption: "Days, \(range.axis.words)", columns: ["Day"] + columns, rows: rows))
    }

    private func history() async throws(StoreError) -> HistorySection {
        let range = range(.month)
        let edges = try await sources.reader.alerts(
            of: device.id, before: range.moments.upperBound, limit: Self.maximumAlerts)
        let cleared = Dictionary(
            edges.compactMap { edge in edge.raisedID.map { ($0, edge) } }, uniquingKeysWith: { first, _ in first })
        let past = edges.filter { $0.edge == .raised && range.moments.contains($0.raisedAt) }.map { edge in
            let end = cleared[edge.id]
            return PastAlert(
                rule: Wording.name(of: edge.rule), mark: mark(edge, isCleared: end != nil),
                value: edge.value.map { Wording.text($0, of: edge.rule) } ?? "–",
                limit: edge.limit.map { Wording.text($0, of: edge.rule) }
                    ?? (edge.origin == .device ? "by the device" : "–"),
                raised: clock.moment(edge.raisedAt), cleared: end.map { clock.moment($0.measuredAt) },
                acknowledged: edge.acknowledgement.map {
                    Acknowledgement(by: $0.person.isEmpty ? nil : $0.person, time: clock.moment($0.at))
                })
        }
        let isCut = edges.count >= Self.maximumAlerts && edges.last?.measuredAt ?? .earliest > range.moments.lowerBound
        return HistorySection(
            range: range.bar("\(device.path)/alerts"), past: past,
            cut: isCut ? "There were more alerts than a page has: choose a shorter time for the older ones." : nil)
    }

    /// Whether an alert is over. Its end may be after the days that are shown: then only its level says so.
    private func mark(_ edge: AlertEvent, isCleared: Bool) -> Mark {
        if edge.rule.warning != nil { return Mark("warning", .warn) }
        if isCleared { return Mark("cleared") }
        return device.levels.contains { $0.isActive && $0.lastID == edge.id } ? Mark("raised", .bad) : Mark("over")
    }
}

extension ShownRange {
    /// The time of a night.
    fileprivate init(night sample: Sample, _ clock: PageClock) {
        self.init(axis: TimeAxis(.day, from: sample.start, to: sample.end, in: clock.calendar), clock)
    }
}
