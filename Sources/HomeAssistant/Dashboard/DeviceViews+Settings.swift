import JSON
import Vitals

extension DeviceViews {
    /// The subview with what changes rarely: buttons, the settings of each metric, and diagnostics. Home Assistant has no card that folds.
    var settings: JSONValue {
        let id = device.info.id
        var sections: [JSONValue] = []
        func add(_ heading: String, _ icon: String, _ list: [(entity: BoardEntity, name: String)]) {
            guard !list.isEmpty else { return }
            sections.append(Card.section([Card.heading(heading, icon: icon), Card.entities(list)]))
        }
        func add(_ heading: String, _ icon: String, _ components: [Component]) {
            add(heading, icon, entities(of: components).map { ($0, $0.name) })
        }
        add("Actions", "mdi:play-circle-outline", discovery.buttons(of: id, capabilities))
        for metric in Metric.monitored {
            let settings = MonitorSetting.all.filter { $0.metric == metric && $0.isOffered(by: capabilities) }
            add(
                metric.title, metric.entities.icon ?? "mdi:cog-outline",
                settings.compactMap { setting in
                    entity(discovery.control(setting, of: id).key).map { ($0, setting.rowTitle) }
                })
        }
        add("Device", "mdi:information-outline", discovery.diagnostics(of: device, capabilities))
        return Card.view(
            "\(device.info.name): settings", path: path("settings"), icon: "mdi:cog-outline", isSubview: true, sections)
    }
}

extension MonitorSetting {
    /// The name in a list of one metric's settings, short enough for the place beside a number. Limits stand below the
    /// switch of their alert.
    fileprivate var rowTitle: String {
        switch field {
        case .scheduleEnabled: "Monitoring"
        case .scheduleStart: "Start"
        case .scheduleEnd: "End"
        case .scheduleInterval: "Interval"
        case .enabled: title.replacing("\(metric.title) ", with: "").capitalizedFirst
        case .lower(let subject): subject.isPressure ? "\(subject.rawValue) lower".capitalizedFirst : "Lower limit"
        case .upper(let subject): subject.isPressure ? "\(subject.rawValue) upper".capitalizedFirst : "Upper limit"
        case .exerciseMaximum: "Maximum"
        }
    }
}

extension AlertRule.Subject {
    fileprivate var isPressure: Bool { self == .systolic || self == .diastolic }
}
