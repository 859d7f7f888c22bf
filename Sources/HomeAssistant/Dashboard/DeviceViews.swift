import JSON
import Vitals

/// An entity of a dashboard.
struct BoardEntity: Hashable {
    /// Its id in Home Assistant.
    var id: String
    /// Its name, without its device's.
    var name: String
}

/// The part of a dashboard that shows one device.
struct DeviceViews {
    let device: DiscoveredDevice
    let capabilities: Capabilities
    let discovery: Discovery
    private let entities: [String: BoardEntity]

    init(_ device: DiscoveredDevice, of discovery: Discovery, _ known: DashboardEntities) {
        self.device = device
        self.discovery = discovery
        capabilities = device.info.capabilities ?? Capabilities()
        let node = discovery.node(device.info.id.text)
        var entities: [String: BoardEntity] = [:]
        for component in discovery.components(of: device) {
            let id: String? =
                switch known {
                case .proposed: component.isEnabledByDefault ? component.entityID(of: node) : nil
                case .registered(let ids):
                    // A time and the text that it replaced have one key; the platform distinguishes them.
                    ids[component.uniqueID(of: node)].flatMap {
                        $0.hasPrefix("\(component.platform.rawValue).") ? $0 : nil
                    }
                }
            entities[component.key] = id.map { BoardEntity(id: $0, name: component.name) }
        }
        self.entities = entities
    }

    /// Whether none of its entities may be named.
    var isEmpty: Bool { entities.isEmpty }

    /// An entity by its key; `nil` if there is none.
    func entity(_ key: String) -> BoardEntity? { entities[key] }

    /// Those of components that there are.
    func entities(of components: [Component]) -> [BoardEntity] { components.compactMap { entity($0.key) } }

    /// The device's place in the first view: sections that fill its rows.
    ///
    /// A device with many plots has a row for its values, one for its plots, and one for nights and alerts. Another one
    /// has them beside each other.
    func sections(isAlone: Bool) -> [JSONValue] {
        let title = { (what: String) in isAlone ? what : "\(device.info.name): \(what.lowercased())" }
        let month = plots(.month)
        let isRich = month.count > Card.columns
        let plots =
            month.isEmpty
            ? [] : [Card.heading(title("Last 30 days"), icon: "mdi:chart-line", opens: path("year"))] + month
        let (nights, alerts) = (nights(title("Nights")), alerts(title("Alerts")))
        let rows = isRich ? [[present], [plots], [nights, alerts]] : [[present, plots, nights + alerts]]
        return rows.flatMap { row in
            let groups = row.filter { !$0.isEmpty }
            return groups.enumerated().map { place, cards in
                Card.section(cards, span: place == groups.count - 1 ? Card.columns - place : 1)
            }
        }
    }

    /// The newest values, and today's.
    private var present: [JSONValue] {
        let badges = ["battery", "charging", "worn"].compactMap { entity($0) }
        let newest = discovery.values(of: device.info, capabilities).filter { !Self.isLast($0.key) }
        let icon = capabilities.supports(.steps) ? "mdi:watch-variant" : "mdi:heart-pulse"
        let head = Card.heading(device.info.name, icon: icon, opens: path("settings"), badges: badges)
        return [head] + entities(of: newest).map { Card.tile($0, color: "red") } + today
    }

    /// Today's sums. Today's last resting heart rate is the newest one, which is above.
    private var today: [JSONValue] {
        let sums = Metric.allCases.filter { capabilities.supports($0) && $0.shape != .sleep }
            .flatMap { $0.daySums.map(\.key) }
        let tiles = (sums + ["last_workout"]).compactMap { entity($0) }.map { entity in
            Card.tile(entity, name: entity.name.replacing(" today", with: ""), color: "green")
        }
        let zones = (1...HeartRateZones.count).compactMap { zone in
            entity("\(Metric.heartRate.rawValue)_zone_\(zone)").map { ($0, "Zone \(zone)") }
        }
        let cards = tiles + (zones.isEmpty ? [] : [Card.glance(zones)])
        return cards.isEmpty ? [] : [Card.heading("Today", icon: "mdi:walk", isMain: false)] + cards
    }

    /// The last sleep with its stages, and the nights of a month.
    private func nights(_ title: String) -> [JSONValue] {
        let tiles = ["sleep", "last_sleep"].compactMap { entity($0) }.map { Card.tile($0, color: "indigo") }
        guard !tiles.isEmpty else { return [] }
        let stages = entity("last_sleep").map { [Card.markdown(Self.stages(of: $0))] } ?? []
        return [Card.heading(title, icon: "mdi:sleep")] + tiles + stages + nightPlots(.month)
    }

    /// The last warning, the levels that are watched, and the alerts of a week.
    private func alerts(_ title: String) -> [JSONValue] {
        let levels = entities(of: discovery.alerts(of: device, capabilities).filter { $0.platform == .binarySensor })
        guard let event = entity("alert") else { return [] }
        let shown = [entity("warning")].compactMap { $0 } + levels
        return [Card.heading(title, icon: "mdi:alert-circle-outline")]
            + (shown.isEmpty ? [] : [Card.entities(shown.map { ($0, $0.name) })]) + [Card.logbook([event], days: 7)]
    }

    /// The path of one of its subviews. A relative one: the path of the dashboard is its owner's choice.
    func path(_ what: String) -> String { "\(device.info.id.text)-\(what)" }

    /// Whether a key is of the newest sleep or workout.
    private static func isLast(_ key: String) -> Bool { key == "last_sleep" || key == "last_workout" }

    /// A table of the stages of the newest sleep.
    private static func stages(of sleep: BoardEntity) -> String {
        let stages = [
            ("Deep", "deep_min"), ("Light", "light_min"), ("REM", "rem_min"), ("Asleep", "asleep_min"),
            ("Awake", "awake_min"), ("In bed", "in_bed_min"),
        ]
        let heads = stages.map { " \($0.0) |" }.joined()
        let cells = stages.map { " {{ time(state_attr(sleep, '\($0.1)')) }} |" }.joined()
        return """
            {% set sleep = '\(sleep.id)' %}
            {% macro time(minutes) %}{{ minutes | int(0) // 60 }} h {{ minutes | int(0) % 60 }} min{% endmacro %}
            {% if state_attr(sleep, 'ended_at') %}
            |\(heads)
            |\(stages.map { _ in ":---:|" }.joined())
            |\(cells)

            Until {{ as_timestamp(state_attr(sleep, 'ended_at')) | timestamp_custom('%A %H:%M') }}
            {% else %}
            There is no night yet.
            {% endif %}
            """
    }
}

extension DeviceViews {
    /// The subview with the weeks of a year; `nil` if nothing has statistics.
    var year: JSONValue? {
        let cards = plots(.year) + nightPlots(.year)
        guard !cards.isEmpty else { return nil }
        let title = "\(device.info.name): weeks of a year"
        return Card.view(
            title, path: path("year"), icon: "mdi:chart-line", isSubview: true,
            [Card.section(cards, span: Card.columns)])
    }

    /// A plot of each metric: of values their mean between the lowest and the highest, of counts what was added. Both
    /// pressures share one plot.
    func plots(_ period: Card.Period) -> [JSONValue] {
        Metric.allCases.filter { capabilities.supports($0) }.flatMap { metric -> [JSONValue] in
            let sensors = StatisticSensor.all(of: metric)
            let measured = sensors.filter { $0.kind == .measurement }.compactMap { entity($0.key) }
            let counted = sensors.filter { $0.kind == .counter }.compactMap { entity($0.key) }
            let types = measured.count > 1 ? ["mean"] : ["mean", "min", "max"]
            return (measured.isEmpty ? [] : [Card.statistics(metric.title, measured, types, period)])
                + counted.map { entity in
                    let name = entity.name.replacing(" today", with: "")
                    return Card.statistics(name, [entity], ["change"], period, isBars: true)
                }
        }
    }

    /// A plot of the nights. The highest number of a day is the length of its night; a week has the mean.
    func nightPlots(_ period: Card.Period) -> [JSONValue] {
        let sensors = Metric.allCases.filter { capabilities.supports($0) }.flatMap { StatisticSensor.all(of: $0) }
        return sensors.filter { $0.kind == .dailySum }.compactMap { entity($0.key) }
            .map { Card.statistics("Sleep", [$0], [period.name == "day" ? "max" : "mean"], period, isBars: true) }
    }
}
