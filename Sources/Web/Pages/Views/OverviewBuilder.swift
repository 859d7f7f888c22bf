import Vitals

extension ShownDevice {
    /// The metrics whose newest values the overview has: neither what is counted by day, nor nights and workouts.
    var tileMetrics: [Metric] {
        metrics.filter { ($0.shape == .value || $0.shape == .pressure) && $0 != .battery && latest[$0] != nil }
    }

    /// Their values, of everybody who wears it.
    var tileValues: [LatestState] {
        tileMetrics.flatMap { metric in
            [latest[metric]].compactMap { $0 } + others.filter { $0.stored.sample.metric == metric }
        }
    }

    /// Whether a value of it belongs to nobody in particular, such as that of a guest at a device for several.
    var hasValuesOfNobody: Bool {
        (tileValues + [latest[.sleep]].compactMap { $0 }).contains { person(user: $0.stored.sample.user) == nil }
    }

    /// What a value is called in events. Those of a device's users have names of their own, since they stand at other persons.
    func key(of value: LatestState) -> String {
        let sample = value.stored.sample
        return "value.\(id).\(sample.metric.rawValue)\(sample.user.map { ".\($0)" } ?? "")"
    }

    /// Whether an alert of a value's metric and person is active. One that names no person may be anybody's.
    func isAlarming(_ sample: Sample) -> Bool {
        levels.contains { level in
            let whose = person(user: level.user)
            return level.isActive && level.rule.metric == sample.metric
                && (whose == nil || whose == person(user: sample.user))
        }
    }
}

/// Makes the overview.
struct OverviewBuilder: Sendable {
    /// The most messages about devices and the gateway.
    static let maximumConcerns = 20
    /// How old the newest night may be to be the last one.
    static let nightAge: Duration = .hours(24)

    let devices: [ShownDevice]
    let clock: PageClock
    let rights: PageRights
    /// The small plots, by the keys of the values.
    let sparklines: [String: String]
    /// The sleeps of the last days that are known beside the newest one of each device.
    let sleeps: [DeviceID: [StoredSample]]

    /// Who the values of a device belong to. Those of a guest belong to nobody.
    private static let nobody = "Nobody in particular"

    /// Everybody with his devices.
    func people() -> [PersonCard] {
        var names: [String?] = []
        for device in devices {
            var persons: [String?] = device.persons
            if persons.isEmpty || device.hasValuesOfNobody { persons.append(nil) }
            for person in persons where !names.contains(person) { names.append(person) }
        }
        names.sort { ($0 == nil ? 1 : 0, $0 ?? "") < ($1 == nil ? 1 : 0, $1 ?? "") }
        return names.enumerated().map { card($1, anchor: "person-\($0 + 1)") }
    }

    private func card(_ person: String?, anchor: String) -> PersonCard {
        let own = devices.filter { device in
            person.map { device.persons.contains($0) } ?? (device.persons.isEmpty || device.hasValuesOfNobody)
        }
        // What a device for several has counted stands at those who wear it.
        let counting = own.filter { person != nil || $0.persons.isEmpty }
        var tiles: [ValueTile] = []
        for device in own {
            for value in device.tileValues where device.person(user: value.stored.sample.user) == person {
                tiles.append(tile(value, device))
            }
        }
        let counts = counting.flatMap(\.metrics).contains { $0.shape == .count || $0.shape == .session }
        return PersonCard(
            anchor: anchor, name: person ?? Self.nobody, values: tiles,
            sums: counts ? sums(counting, anchor) : nil,
            lastNight: own.contains { $0.metrics.contains(.sleep) } ? night(own, person, anchor) : nil,
            devices: own.map { $0.row(clock) })
    }

    private func tile(_ latest: LatestState, _ device: ShownDevice) -> ValueTile {
        let (key, metric) = (device.key(of: latest), latest.stored.sample.metric)
        let svg = sparklines[key].flatMap { $0.isEmpty ? nil : $0 }
        return ValueTile(
            key: key, label: Wording.name(of: metric), text: Wording.text(of: latest.stored.sample),
            unit: Wording.unit(of: metric), measured: clock.moment(latest.stored.sample.end), isStale: latest.isStale,
            isAlarming: device.isAlarming(latest.stored.sample), deviceName: device.name,
            link: "\(device.path)/values?metric=\(metric.rawValue)", sparkSVG: svg)
    }

    private func sums(_ devices: [ShownDevice], _ anchor: String) -> DaySums {
        var figures: [Figure] = []
        for device in devices {
            let remarks = [
                devices.count > 1 ? device.name : nil, device.persons.count > 1 ? "all who wear it together" : nil,
            ].compactMap(\.self)
            let remark = remarks.isEmpty ? nil : remarks.joined(separator: ", ")
            for metric in Metric.allCases {
                guard let summary = device.today[metric]?.summary, summary.day == clock.today else { continue }
                switch summary.details {
                case .count(let total, _, _):
                    figures.append(
                        Figure(
                            label: Wording.name(of: metric), text: NumberText.of(total, decimals: metric.decimals),
                            unit: Wording.unit(of: metric), remark: remark))
                case .sport(let totals) where totals.sessions > 0:
                    let workouts = NumberText.count(totals.sessions, "workout")
                    figures.append(
                        Figure(
                            label: Wording.name(of: metric), text: TimeText.span(minutes: totals.minutes), unit: nil,
                            remark: remark.map { "\(workouts), \($0)" } ?? workouts))
                default: continue
                }
            }
        }
        return DaySums(key: "sums.\(anchor)", figures: figures)
    }

    /// The longest of the sleeps that ended on the day of the newest one, since that may be a nap.
    private func night(_ devices: [ShownDevice], _ person: String?, _ anchor: String) -> NightCard {
        var found: [(device: ShownDevice, stored: StoredSample)] = []
        for device in devices {
            let newest = device.latest[.sleep]?.stored
            let others = (sleeps[device.id] ?? []).filter { $0.id != newest?.id }
            for stored in others + [newest].compactMap(\.self)
            where device.person(user: stored.sample.user) == person && clock.now - stored.sample.end < Self.nightAge {
                found.append((device, stored))
            }
        }
        let last = found.map { clock.day(of: $0.stored.sample) }.max()
        let longest = found.filter { clock.day(of: $0.stored.sample) == last }
            .max { ($0.stored.sample.value ?? 0) < ($1.stored.sample.value ?? 0) }
        let night = longest.flatMap { found in NightBuilder(device: found.device, clock: clock).night(found.stored) }
        return NightCard(key: "night.\(anchor)", night: night)
    }

    /// The alerts that are active, the newest first.
    func alerts() -> AlertList {
        AlertList(
            key: "alerts",
            alerts: devices.flatMap { $0.alerts(clock) }.sorted { ($0.raised.iso, $0.edge) > ($1.raised.iso, $1.edge) })
    }

    /// What else needs attention.
    func concerns(_ gateway: GatewayOverview, late: [String]) -> [Notice] {
        var concerns: [Notice] = []
        if rights.isEverything {
            let target = "gateway"
            if late.contains("start") {
                concerns.append(Notice("The gateway is starting; devices are not served yet.", .warn, target: target))
            } else if !gateway.isConnected {
                concerns.append(
                    Notice("The broker is not connected. What was measured waits for it.", .warn, target: target))
            }
            if late.contains("broker.access") {
                concerns.append(
                    Notice("The broker drops what the gateway publishes.", .bad, target: target))
            }
            if gateway.isConfigurationRefused {
                concerns.append(
                    Notice("The changed configuration has errors, and was not applied.", .bad, target: target))
            }
            let others = ["start", "broker", "broker.access"]
            let stuck = late.filter { !others.contains($0) && !$0.hasPrefix("device.") }
            if !stuck.isEmpty {
                let parts = "\(NumberText.count(stuck.count, "part")) of the gateway"
                concerns.append(
                    Notice("\(parts) \(stuck.count == 1 ? "does" : "do") not answer.", .bad, target: target))
            }
        }
        for device in devices where device.isOnline == false {
            let heard = device.heardAt.map { "\(device.name) was last heard: \(clock.moment($0).text)." }
            concerns.append(Notice(heard ?? "\(device.name) was never heard.", .warn, target: device.path))
        }
        guard concerns.count > Self.maximumConcerns else { return concerns }
        let rest = concerns.count - Self.maximumConcerns
        return concerns.prefix(Self.maximumConcerns) + [Notice("And \(rest) more.", .warn)]
    }
}
