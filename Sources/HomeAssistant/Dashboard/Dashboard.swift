package import JSON
import Vitals

/// A dashboard of the gateway's devices, made of Home Assistant's own cards: one view for every day, and behind it two
/// subviews for each device, one with its year and one with its settings.
package struct Dashboard: Sendable {
    /// The views, in the form of the key `views` of a dashboard's configuration
    /// (https://www.home-assistant.io/dashboards/views).
    package let views: [JSONValue]

    /// The path of the first view.
    package static let path = "vitals"
}

/// The ids of the entities that a dashboard may name.
package enum DashboardEntities: Sendable, Hashable {
    /// Those that discovery proposes. Home Assistant takes them from 2025.10 on, unless a person renames an entity.
    /// Entities that are disabled by default are skipped.
    case proposed
    /// Those of Home Assistant's registry, by `unique_id`, without disabled entities.
    case registered([String: String])
}

extension Discovery {
    /// A dashboard of devices that were connected at least once: the capabilities of others are unknown.
    ///
    /// It names no entity that `messages(devices:)` does not announce, and a device without any of its entities has no
    /// place in it.
    package func dashboard(of devices: [DiscoveredDevice], entities: DashboardEntities) -> Dashboard {
        let boards = devices.map { DeviceViews($0, of: self, entities) }.filter { !$0.isEmpty }
        let sections = boards.flatMap { $0.sections(isAlone: boards.count == 1) }
        let main = Card.view("Vitals", path: Dashboard.path, icon: "mdi:heart-pulse", sections)
        return Dashboard(views: [main] + boards.flatMap { [$0.year, $0.settings].compactMap(\.self) })
    }
}
