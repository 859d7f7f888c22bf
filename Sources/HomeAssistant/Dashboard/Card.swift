import JSON

/// Home Assistant's own cards, sections and views (https://www.home-assistant.io/dashboards/cards).
enum Card {
    /// The most columns of sections beside each other.
    static let columns = 3

    /// A view of sections. One of a device opens from a heading of the first view and has a way back.
    static func view(
        _ title: String, path: String, icon: String, isSubview: Bool = false, _ sections: [JSONValue]
    ) -> JSONValue {
        made([
            ("title", .string(title)), ("path", .string(path)), ("icon", .string(icon)),
            ("subview", isSubview ? true : nil), ("type", "sections"), ("max_columns", .number(Double(columns))),
            ("sections", .array(sections)),
        ])
    }

    /// A section as wide as `span` of the columns.
    static func section(_ cards: [JSONValue], span: Int = 1) -> JSONValue {
        made([
            ("type", "grid"), ("column_span", span > 1 ? .number(Double(span)) : nil), ("cards", .array(cards)),
        ])
    }

    /// A heading.
    /// - Parameters:
    ///   - path: the view that opens when it is tapped.
    ///   - badges: entities that it shows at its right.
    static func heading(
        _ title: String, icon: String, isMain: Bool = true, opens path: String? = nil, badges: [BoardEntity] = []
    ) -> JSONValue {
        made([
            ("type", "heading"), ("heading", .string(title)), ("heading_style", isMain ? "title" : "subtitle"),
            ("icon", .string(icon)),
            ("tap_action", path.map { ["action": "navigate", "navigation_path": .string($0)] }),
            (
                "badges",
                badges.isEmpty
                    ? nil : .array(badges.map { ["type": "entity", "entity": .string($0.id)] })
            ),
        ])
    }

    /// A tile of half a section's width.
    static func tile(_ entity: BoardEntity, name: String? = nil, color: String? = nil) -> JSONValue {
        made([
            ("type", "tile"), ("entity", .string(entity.id)), ("name", .string(name ?? entity.name)),
            ("color", color.map { .string($0) }),
        ])
    }

    /// A list of entities under these names, each with its control.
    static func entities(_ list: [(entity: BoardEntity, name: String)]) -> JSONValue {
        [
            "type": "entities", "show_header_toggle": false,
            "entities": .array(list.map { row($0.entity, $0.name) }),
        ]
    }

    /// Values side by side, under these names.
    static func glance(_ list: [(entity: BoardEntity, name: String)]) -> JSONValue {
        [
            "type": "glance", "columns": .number(Double(list.count)), "show_icon": false,
            "entities": .array(list.map { row($0.entity, $0.name) }),
        ]
    }

    /// A text with templates.
    static func markdown(_ content: String) -> JSONValue { ["type": "markdown", "content": .string(content)] }

    /// What happened to entities within the last days.
    static func logbook(_ list: [BoardEntity], days: Int) -> JSONValue {
        [
            "type": "logbook", "target": ["entity_id": .array(list.map { .string($0.id) })],
            "hours_to_show": .number(Double(24 * days)),
        ]
    }

    /// A plot of long-term statistics.
    static func statistics(
        _ title: String, _ list: [BoardEntity], _ types: [String], _ period: Period, isBars: Bool = false
    ) -> JSONValue {
        [
            "type": "statistics-graph", "title": .string(title), "chart_type": isBars ? "bar" : "line",
            "period": .string(period.name), "days_to_show": .number(Double(period.days)),
            "stat_types": .array(types.map { .string($0) }), "hide_legend": .bool(list.count == 1),
            "entities": .array(list.map { row($0, $0.name) }),
        ]
    }

    /// How much of the past a plot shows, and what its points are.
    struct Period {
        var name: String
        var days: Int
        static let month = Period(name: "day", days: 30)
        static let year = Period(name: "week", days: 365)
    }

    private static func row(_ entity: BoardEntity, _ name: String) -> JSONValue {
        ["entity": .string(entity.id), "name": .string(name)]
    }

    private static func made(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { key, value in value.map { JSONValue.Member(key, $0) } })
    }
}
